//! What the host hears of a command that the engine answers: an answer in the model's place, and a result.

use bowline_protocol::{
    ContentBlock, LocalCommandRun, RawJson, ResultMessage, StopReason, UserMessage,
};
use bowline_sessions::SystemLine;
use tokio::time::Instant;

use super::{Invocation, texts};
use crate::{
    agent::{Agent, synthetic},
    outlet::new_uuid,
    session::{Shared, catalog, without_turn},
    turn::run::millis,
};

/// What a command came to.
pub(super) struct Report<'a> {
    /// The command's own name, which may not be how it was called.
    command: &'a str,
    invocation: &'a Invocation,
    text: String,
    /// The same as numbers, for hosts that draw it themselves.
    pub(super) context_usage: Option<RawJson>,
}

impl<'a> Report<'a> {
    pub(super) fn new(command: &'a str, invocation: &'a Invocation, text: String) -> Self {
        Self { command, invocation, text, context_usage: None }
    }
}

/// Tells the host that a command was taken up: what holds before it is run.
pub(super) async fn announce(agent: &Agent) {
    agent.session.outlet.send(catalog::init(agent, &[])).await;
}

/// Tells the host what a command came to.
pub(super) async fn answer(agent: &Agent, report: Report<'_>) -> ResultMessage {
    let began = Instant::now();
    let session = &agent.session;
    let Report { command, invocation, text, context_usage } = report;
    let source = texts::stdout(&text);
    note(session, &texts::command_mark(command, &invocation.args)).await;
    note(session, &source).await;
    let mut frame = synthetic(vec![ContentBlock::text(text.clone())]);
    frame.message.stop_reason = Some(StopReason::EndTurn);
    frame.message.stop_sequence = None;
    frame.local_command_source = Some(source);
    frame.local_command_run = Some(LocalCommandRun {
        command: command.to_owned(),
        args: invocation.args.clone(),
        ..LocalCommandRun::default()
    });
    frame.context_usage = context_usage;
    session.outlet.send(frame).await;
    result(session, invocation, text, began)
}

/// The result of a command.
pub(super) fn result(
    session: &Shared,
    invocation: &Invocation,
    text: impl Into<String>,
    began: Instant,
) -> ResultMessage {
    let mut result = without_turn(session, text);
    result.local_command = Some(invocation.name.clone());
    result.duration_ms = millis(began.elapsed());
    result.duration_api_ms = 0;
    result
}

/// Notes in the transcript what a command did; the model does not see it.
pub(super) async fn note(session: &Shared, content: &str) {
    let line = SystemLine {
        subtype: "local_command".to_owned(),
        content: Some(content.to_owned()),
        level: Some("info".to_owned()),
        is_meta: Some(false),
        ..SystemLine::default()
    };
    session.tell(session.journal.write(line)).await;
}

/// Repeats a prompt to a host that wants to know that it was taken up.
pub(super) async fn replay(session: &Shared, prompt: &UserMessage) {
    if session.config.replay_user_messages {
        let mut replay = prompt.clone();
        replay.is_replay = Some(true);
        let uuid = prompt.uuid.clone().unwrap_or_else(new_uuid);
        session.outlet.send_as(uuid, replay).await;
    }
}
