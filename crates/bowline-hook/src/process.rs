//! Process of a command hook: its input, its output, and the end of its process group when it is dropped.

use std::{io, process::ExitStatus, time::Duration};

use bowline_process::ProcessGroup;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::{Instant, Interval, MissedTickBehavior, interval_at, sleep_until},
};

/// How much of each stream is kept. A reply is far smaller; the rest is read and dropped.
const KEPT_OUTPUT: usize = 1 << 20;

/// How much is read at once.
const CHUNK: usize = 8 * 1024;

/// How long the streams are read after the process has ended, because a process
/// that it started may hold them open for as long as it lives.
const STREAM_GRACE: Duration = Duration::from_millis(500);

/// How often new output is reported.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// What a process has written so far.
#[derive(Debug, Default, Clone)]
pub(super) struct Written {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// Both, in the order of arrival.
    pub(super) output: Vec<u8>,
}

/// What [`Process::next`] waited for.
#[derive(Debug)]
pub(super) enum Step {
    /// The first line of stdout is complete.
    FirstLine,
    /// There is new output to report.
    Progress,
    /// The process has ended and its streams are read.
    Ended(io::Result<ExitStatus>),
}

/// A running process. Dropping it kills the process and all it has started.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: ProcessGroup,
    stdin: Option<ChildStdin>,
    input: Vec<u8>,
    fed: usize,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    written: Written,
    seen_first_line: bool,
    reported: usize,
    ticks: Interval,
    ended: Option<(io::Result<ExitStatus>, Instant)>,
}

impl Process {
    /// Starts a process in a group of its own that reads `input`.
    pub(super) fn start(mut command: Command, input: Vec<u8>) -> io::Result<Self> {
        use std::process::Stdio;

        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let group = ProcessGroup::led_by(&child)?;
        let mut ticks = interval_at(Instant::now() + PROGRESS_EVERY, PROGRESS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            group,
            stdin: child.stdin.take(),
            input,
            fed: 0,
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            written: Written::default(),
            seen_first_line: false,
            reported: 0,
            ticks,
            ended: None,
            child,
        })
    }

    pub(super) fn written(&self) -> &Written {
        &self.written
    }

    /// Waits for something to happen. Cancel safe.
    pub(super) async fn next(&mut self) -> Step {
        // Arrays would be a part of every future that may come to run a hook, and thus of each tool call.
        let (mut from_stdout, mut from_stderr) = (vec![0; CHUNK], vec![0; CHUNK]);
        loop {
            if self.stdout.is_none()
                && self.stderr.is_none()
                && let Some((status, _)) = self.ended.take()
            {
                return Step::Ended(status);
            }
            let give_up = self.ended.as_ref().map_or_else(Instant::now, |(_, give_up)| *give_up);
            tokio::select! {
                fed = feed(&mut self.stdin, &self.input[self.fed..]), if self.stdin.is_some() => {
                    self.fed += fed;
                    if fed == 0 || self.fed == self.input.len() {
                        self.stdin = None;
                    }
                }
                read = read(&mut self.stdout, &mut from_stdout), if self.stdout.is_some() => {
                    keep(&mut self.written.stdout, &from_stdout[..read]);
                    keep(&mut self.written.output, &from_stdout[..read]);
                    if read == 0 {
                        self.stdout = None;
                    }
                    if !self.seen_first_line && from_stdout[..read].contains(&b'\n') {
                        self.seen_first_line = true;
                        return Step::FirstLine;
                    }
                }
                read = read(&mut self.stderr, &mut from_stderr), if self.stderr.is_some() => {
                    keep(&mut self.written.stderr, &from_stderr[..read]);
                    keep(&mut self.written.output, &from_stderr[..read]);
                    if read == 0 {
                        self.stderr = None;
                    }
                }
                status = self.child.wait(), if self.ended.is_none() => {
                    // What it left running was left on purpose.
                    self.group.release();
                    self.stdin = None;
                    self.ended = Some((status, Instant::now() + STREAM_GRACE));
                }
                () = sleep_until(give_up), if self.ended.is_some() => {
                    self.stdout = None;
                    self.stderr = None;
                }
                _ = self.ticks.tick(), if self.written.output.len() > self.reported => {
                    self.reported = self.written.output.len();
                    return Step::Progress;
                }
            }
        }
    }
}

/// Writes some of the input; 0 if the hook no longer reads it, which is no error of the hook.
async fn feed(stdin: &mut Option<ChildStdin>, input: &[u8]) -> usize {
    match stdin {
        Some(stdin) => stdin.write(input).await.unwrap_or(0),
        None => 0,
    }
}

/// Reads some output; 0 at its end.
async fn read(stream: &mut Option<impl AsyncRead + Unpin>, into: &mut [u8]) -> usize {
    match stream {
        Some(stream) => stream.read(into).await.unwrap_or(0),
        None => 0,
    }
}

fn keep(kept: &mut Vec<u8>, new: &[u8]) {
    let room = KEPT_OUTPUT.saturating_sub(kept.len());
    kept.extend_from_slice(&new[..new.len().min(room)]);
}
