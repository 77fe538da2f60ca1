//! A shell command while it runs.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    ffi::OsStr,
    io::{self, Write},
    os::unix::{ffi::OsStrExt, process::ExitStatusExt},
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use bowline_process::{ProcessGroup, ProcessGroups, group_command, set_variables};
use bowline_sandbox::{Confinement, Support};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, ChildStderr, ChildStdout, Command},
    runtime::Handle,
    time::{Instant, sleep_until, timeout},
};

use super::capture::Capture;

/// How long a group may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// After the shell has ended, its own output is already in the pipe; only processes that it left
/// running still hold the pipe open, and those are not waited for.
const LINGER: Duration = Duration::from_millis(50);

/// A pipe's usual size: one read can empty it.
const CHUNK: usize = 64 * 1024;

/// Runs in front of every command. It waits for [`GO`]; without that line this program died before
/// the guardian knew the command, and nothing could end it any more. Standard error joins standard
/// output, so that the two arrive in order; the pipe that was standard error is moved
/// out of the way and reports the shell's last directory. That works however the shell ends, except by
/// `exec` or a signal; then the directory just stays. `shift` takes the command out of the
/// positional parameters.
const PROLOGUE: &str = r#"read -r _ || exit
exec 0</dev/null 19>&2 2>&1; trap 'pwd >&19' EXIT; eval "shift; $1""#;

/// The same with a file of definitions as the second parameter.
const PROLOGUE_WITH_PROFILE: &str = r#"read -r _ || exit
exec 0</dev/null 19>&2 2>&1; trap 'pwd >&19' EXIT
shopt -s expand_aliases; . "$2"; eval "shift 2; $1""#;

/// The line that a shell waits for before it runs its command.
const GO: &[u8] = b"\n";

/// A command for the shell.
#[derive(Debug)]
pub(crate) struct ShellCommand {
    pub(crate) command: String,
    pub(crate) dir: PathBuf,
    pub(crate) environment: BTreeMap<String, Option<String>>,
    /// A file of definitions that the command may use.
    pub(crate) profile: Option<PathBuf>,
    /// Files that run before it, in the same shell.
    pub(crate) scripts: Vec<PathBuf>,
    /// What the kernel holds it to.
    pub(crate) confinement: Option<Confinement>,
}

impl ShellCommand {
    /// What the shell runs.
    fn text(&self) -> Cow<'_, str> {
        if self.scripts.is_empty() {
            return Cow::Borrowed(&self.command);
        }
        let quoted = |path: &PathBuf| path.display().to_string().replace('\'', r"'\''");
        let scripts = self.scripts.iter().map(|path| format!(". '{}'\n", quoted(path)));
        Cow::Owned(scripts.chain([self.command.clone()]).collect())
    }
}

/// A command that was started. Dropping it kills its whole process group.
#[derive(Debug)]
pub(crate) struct RunningCommand {
    child: Child,
    group: ProcessGroup,
    output: Option<ChildStdout>,
    report: Option<ChildStderr>,
    reported: Vec<u8>,
    kill_at: Option<Instant>,
    chunk: Vec<u8>,
}

impl RunningCommand {
    /// Starts the command in a process group of its own, without input.
    pub(crate) fn spawn(command: &ShellCommand, groups: &Arc<ProcessGroups>) -> io::Result<Self> {
        let mut shell = group_command("/bin/bash");
        let (gate, mut keeper) = io::pipe()?;
        let prologue = match command.profile {
            Some(_) => PROLOGUE_WITH_PROFILE,
            None => PROLOGUE,
        };
        shell
            .args(["-c", prologue, "/bin/bash", &command.text()])
            .args(&command.profile)
            .current_dir(&command.dir)
            .stdin(gate)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        set_variables(&mut shell, &command.environment);
        // They change where `cd` goes and what patterns match, and commands are judged without them.
        for name in ["CDPATH", "GLOBIGNORE", "BASHOPTS"] {
            shell.env_remove(name);
        }
        let mut child = start(&mut shell, command.confinement.as_ref())?;
        let group = groups.add(&child)?;
        // A shell that is dead already does not read it, and its exit status says more than this error.
        keeper.write_all(GO).ok();
        Ok(Self {
            group,
            output: child.stdout.take(),
            report: child.stderr.take(),
            child,
            reported: Vec::new(),
            kill_at: None,
            chunk: vec![0; CHUNK],
        })
    }

    /// Reads output until the shell itself has ended.
    ///
    /// # Cancel safety
    ///
    /// Nothing read is lost when it is dropped; call it again to go on.
    pub(crate) async fn advance(&mut self, capture: &Mutex<Capture>) -> ExitStatus {
        loop {
            let kill_at = self.kill_at;
            tokio::select! {
                biased;
                read = read_some(&mut self.output, &mut self.chunk) => {
                    capture.lock().push(&self.chunk[..read]);
                }
                status = self.child.wait() => match status {
                    Ok(status) => return status,
                    // Other code has reaped our child: its status is lost, so it counts as a failure.
                    Err(error) => {
                        tracing::warn!(%error, "the exit status of a command is unknown");
                        return ExitStatus::from_raw(1 << 8);
                    }
                },
                () = sleep_until(kill_at.unwrap_or_else(Instant::now)), if kill_at.is_some() => {
                    self.kill_at = None;
                    self.group.kill();
                }
            }
        }
    }

    /// Asks the whole group to end, and kills it if it has not after a while.
    pub(crate) fn terminate(&mut self) {
        self.group.terminate();
        self.kill_at = Some(Instant::now() + GRACE);
    }

    /// After the shell has ended: reads what is still in the pipes. Returns the shell's last
    /// directory.
    pub(crate) async fn settle(&mut self, capture: &Mutex<Capture>) -> Option<PathBuf> {
        if self.kill_at.is_some() {
            // The shell obeyed; its children are not asked.
            self.group.kill();
        }
        while self.output.is_some() {
            match timeout(LINGER, read_some(&mut self.output, &mut self.chunk)).await {
                Ok(read) => capture.lock().push(&self.chunk[..read]),
                Err(_) => break,
            }
        }
        while self.report.is_some() && !self.reported.ends_with(b"\n") {
            match timeout(LINGER, read_some(&mut self.report, &mut self.chunk)).await {
                Ok(read) => self.reported.extend_from_slice(&self.chunk[..read]),
                Err(_) => break,
            }
        }
        capture.lock().end("");
        let path = self.reported.strip_suffix(b"\n")?;
        let last = path.rsplit(|byte| *byte == b'\n').next()?;
        last.starts_with(b"/").then(|| PathBuf::from(OsStr::from_bytes(last)))
    }

    /// Holds on to what the command left running in its group until it has ended too: everything
    /// started by the shell has inherited the report pipe.
    pub(crate) async fn outlive(mut self) {
        while self.output.is_some() || self.report.is_some() {
            tokio::select! {
                _ = read_some(&mut self.output, &mut self.chunk), if self.output.is_some() => {}
                _ = drain(&mut self.report), if self.report.is_some() => {}
            }
        }
        self.group.release();
    }
}

/// Starts a shell, confined if the kernel can do that; `doctor` reports what the kernel lacks.
fn start(shell: &mut Command, confinement: Option<&Confinement>) -> io::Result<Child> {
    match confinement.filter(|_| Support::of_kernel().confines()) {
        Some(confinement) => {
            let runtime = Handle::current();
            confinement.inside(|| {
                let _entered = runtime.enter();
                shell.spawn()
            })
        }
        None => shell.spawn(),
    }
}

/// Reads once; at the end removes the pipe. Without a pipe it waits forever, since the others
/// in a `select!` decide then.
async fn read_some<R: AsyncRead + Unpin>(pipe: &mut Option<R>, chunk: &mut [u8]) -> usize {
    let Some(open) = pipe else { return std::future::pending().await };
    match open.read(chunk).await {
        Ok(read) if read > 0 => read,
        _ => {
            *pipe = None;
            0
        }
    }
}

/// Reads a pipe and discards what it reads.
async fn drain<R: AsyncRead + Unpin>(pipe: &mut Option<R>) {
    let mut chunk = [0; 256];
    read_some(pipe, &mut chunk).await;
}
