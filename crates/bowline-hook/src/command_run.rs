//! One run of a command hook, and the messages about it from start to end.

use std::{io, sync::Arc, time::Duration};

use bowline_process::exit_code;
use bowline_protocol::{
    CommandHook, HookCommand, HookOutcome, HookOutput, HookProgressMessage, HookResponseMessage,
};

use super::{
    HookAction, HookActivity, HookReport, Registration, command,
    event_context::{EventContext, fresh_id},
    output::HookReply,
    process::{Process, Step, Written},
};

/// The exit code that is reported for a hook that was stopped.
const STOPPED: i32 = 1;

/// How far a program got.
pub(super) enum Driven {
    /// It has ended.
    Ended(HookReply),
    /// It continues in the background, for at most this long if it sets a limit.
    Detached(Option<Duration>),
}

/// A program that runs as a hook. Dropping it before its end stops it and reports that.
pub(super) struct CommandRun {
    registration: Arc<Registration>,
    context: Arc<EventContext>,
    hook_id: String,
    process: Process,
    /// How much of stdout was the announcement that it goes on by itself.
    announced: usize,
    ended: bool,
}

impl CommandRun {
    pub(super) fn start(
        registration: &Arc<Registration>,
        context: &Arc<EventContext>,
    ) -> io::Result<Self> {
        let hook = command_of(registration);
        let json = context.json().get();
        let environment = registration.environment(&context.environment);
        let process = command::start(hook, &context.input, json, &environment)?;
        let run = Self {
            registration: registration.clone(),
            context: context.clone(),
            hook_id: fresh_id(),
            process,
            announced: 0,
            ended: false,
        };
        context.observe_start(&run.hook_id);
        Ok(run)
    }

    /// Whether it runs in the background from the start.
    pub(super) fn starts_detached(&self) -> bool {
        let hook = command_of(&self.registration);
        hook.r#async == Some(true) || hook.async_rewake == Some(true)
    }

    /// Runs it until it ends, or until its first line moves it to the background.
    pub(super) async fn drive(&mut self) -> Driven {
        loop {
            if let Some(reply) = self.step().await {
                return Driven::Ended(reply);
            }
            if let Some((HookOutput::Async(detached), length)) = self.first_line() {
                self.announced = length;
                let millis = detached.async_timeout.and_then(|millis| millis.as_f64());
                let seconds = millis.map(|millis| millis / 1000.0);
                return Driven::Detached(
                    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
                );
            }
        }
    }

    /// Runs it until it ends, whatever it prints.
    pub(super) async fn drive_to_end(&mut self) -> HookReply {
        loop {
            if let Some(reply) = self.step().await {
                return reply;
            }
        }
    }

    /// Reports the output of a background hook to the observer.
    pub(super) fn report_in_background(self, reply: HookReply) {
        let mut report = HookReport {
            hook_name: self.context.hook_name.clone(),
            ran: 1,
            ..HookReport::default()
        };
        report.take(&self.registration, &self.context, reply);
        let rewake = command_of(&self.registration).async_rewake == Some(true);
        let observer = self.context.observer.clone();
        // Its end is reported before its output.
        drop(self);
        observer.observe(HookActivity::Background { report: Box::new(report), rewake });
    }

    /// Waits for the next thing to happen, which may be the end.
    async fn step(&mut self) -> Option<HookReply> {
        match self.process.next().await {
            Step::FirstLine => None,
            Step::Progress => {
                self.observe_progress();
                None
            }
            Step::Ended(status) => {
                self.ended = true;
                let written = self.process.written();
                let hook = command_of(&self.registration);
                let code = status.as_ref().ok().map(exit_code);
                let outcome = match code {
                    Some(0) => HookOutcome::Success,
                    _ => HookOutcome::Error,
                };
                self.observe_end(code, outcome);
                let stdout = &written.stdout[self.announced..];
                let event = &self.context.event;
                Some(command::interpret(hook, event, &status, stdout, &written.stderr))
            }
        }
    }

    /// The reply in the first line of stdout, once it is complete, and its length.
    fn first_line(&self) -> Option<(HookOutput, usize)> {
        let stdout = &self.process.written().stdout;
        let end = stdout.iter().position(|byte| *byte == b'\n')?;
        let line = str::from_utf8(&stdout[..end]).ok()?.trim();
        let reply =
            if line.starts_with('{') { HookOutput::parse(line).ok()? } else { return None };
        Some((reply, end))
    }

    fn observe_progress(&self) {
        let Written { stdout, stderr, output } = self.process.written();
        self.context.observer.observe(HookActivity::Progress(HookProgressMessage {
            hook_id: self.hook_id.clone(),
            hook_name: self.context.hook_name.clone(),
            hook_event: self.context.event.clone(),
            stdout: text(stdout),
            stderr: text(stderr),
            output: text(output),
            uuid: fresh_id().into(),
            session_id: self.context.input.base.session_id.clone(),
            extra: Default::default(),
        }));
    }

    fn observe_end(&self, exit_code: Option<i32>, outcome: HookOutcome) {
        let Written { stdout, stderr, output } = self.process.written();
        self.context.observer.observe(HookActivity::Response(HookResponseMessage {
            hook_id: self.hook_id.clone(),
            hook_name: self.context.hook_name.clone(),
            hook_event: self.context.event.clone(),
            output: text(output),
            stdout: text(stdout),
            stderr: text(stderr),
            exit_code,
            outcome,
            uuid: fresh_id().into(),
            session_id: self.context.input.base.session_id.clone(),
            extra: Default::default(),
        }));
    }
}

impl Drop for CommandRun {
    fn drop(&mut self) {
        if !self.ended {
            self.observe_end(Some(STOPPED), HookOutcome::Cancelled);
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The command of a registration that is known to be one.
fn command_of(registration: &Registration) -> &CommandHook {
    if let HookAction::Command(hook) = &registration.action
        && let HookCommand::Command(hook) = &**hook
    {
        return hook;
    }
    unreachable!("only programs are run as commands")
}
