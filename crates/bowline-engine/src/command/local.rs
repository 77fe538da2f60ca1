//! Messages and result of a command that the engine runs itself.

use bowline_protocol::{
    AssistantMessage, Content, ContentBlock, InitMessage, LocalCommandRun, RawJson, ResultMessage,
    StopReason, UserMessage,
};
use bowline_sessions::SystemLine;
use serde_json::json;
use tokio::time::Instant;

use super::texts;
use crate::{
    agent::Agent, catalog, clock::millis, library::Invocation, result,
    session_context::SessionContext, synthetic::synthetic,
};

/// The outcome of a command.
pub(super) struct Report<'a> {
    /// The command's own name; it may have been called by an alias.
    command: &'a str,
    invocation: &'a Invocation,
    text: String,
    /// The same as data, for hosts that render it themselves.
    pub(super) context_usage: Option<RawJson>,
    /// Whether the command failed.
    failed: bool,
}

impl<'a> Report<'a> {
    pub(super) fn new(command: &'a str, invocation: &'a Invocation, text: String) -> Self {
        Self { command, invocation, text, context_usage: None, failed: false }
    }

    /// Marks the command as failed.
    pub(super) fn failed(self) -> Self {
        Self { failed: true, ..self }
    }
}

/// Sends the `init` message of a command.
pub(super) async fn announce(agent: &Agent, prompt: &UserMessage) {
    agent.session.sink.send(catalog::init(agent, std::slice::from_ref(prompt))).await;
}

/// The same, with the model in use before the command ran.
pub(super) async fn announce_with(agent: &Agent, prompt: &UserMessage, model: String) {
    let init = catalog::init(agent, std::slice::from_ref(prompt));
    let model = if agent.instructions.model.is_some() { init.model.clone() } else { model };
    agent.session.sink.send(InitMessage { model, ..init }).await;
}

/// Declines a command that cannot be run here.
pub(super) async fn decline(
    agent: &Agent,
    invocation: &Invocation,
    prompt: &UserMessage,
) -> ResultMessage {
    let began = Instant::now();
    announce(agent, prompt).await;
    let text = texts::unavailable(&invocation.name);
    let source = texts::stdout(&text);
    note(&agent.session, &source).await;
    let mut frame = output_message(&text, source);
    frame.local_command_outcome = Some(outcome("unavailable_headless"));
    agent.session.sink.send(frame).await;
    ResultMessage { local_command: None, ..result(&agent.session, invocation, text, began) }
}

/// Sends the outcome of a command to the host.
pub(super) async fn send_report(agent: &Agent, report: Report<'_>) -> ResultMessage {
    let began = Instant::now();
    let session = &agent.session;
    let Report { command, invocation, text, context_usage, failed } = report;
    let source = if failed { texts::stderr(&text) } else { texts::stdout(&text) };
    note(session, &texts::builtin_mark(command, &invocation.args)).await;
    note(session, &source).await;
    let mut frame = output_message(&text, source);
    frame.local_command_run = Some(LocalCommandRun {
        command: command.to_owned(),
        args: invocation.args.clone(),
        ..LocalCommandRun::default()
    });
    frame.context_usage = context_usage;
    frame.local_command_outcome = failed.then(|| outcome("failed"));
    session.sink.send(frame).await;
    result(session, invocation, text, began)
}

/// An assistant message with the output of a command.
fn output_message(text: &str, source: String) -> AssistantMessage {
    let mut frame = synthetic(vec![ContentBlock::text(text)]);
    frame.message.stop_reason = Some(StopReason::EndTurn);
    frame.message.stop_sequence = None;
    frame.local_command_source = Some(source);
    frame
}

/// The outcome of a command that failed or is unavailable.
fn outcome(kind: &str) -> RawJson {
    RawJson::from(json!({"kind": kind}))
}

/// The result of a command.
pub(super) fn result(
    session: &SessionContext,
    invocation: &Invocation,
    text: impl Into<String>,
    began: Instant,
) -> ResultMessage {
    let mut result = result::without_turn(session, text);
    result.local_command = Some(invocation.name.replace('-', "_"));
    result.duration_ms = millis(began.elapsed());
    result.duration_api_ms = 0;
    result
}

/// Records in the transcript what a command did; the model does not see it.
pub(super) async fn note(session: &SessionContext, content: &str) {
    let line = SystemLine {
        subtype: "local_command".to_owned(),
        content: Some(content.to_owned()),
        level: Some("info".to_owned()),
        is_meta: Some(false),
        ..SystemLine::default()
    };
    session.sink.emit_notice(session.journal.write(line)).await;
}

/// Replays the prompt with the command's mark to a host that wants replays, if the prompt has a
/// UUID.
pub(super) async fn replay(session: &SessionContext, prompt: &UserMessage, mark: String) {
    if prompt.uuid.is_some() {
        let mut taken = prompt.clone();
        taken.message.content = Content::Text(mark);
        session.sink.replay_prompt(&taken).await;
    }
}
