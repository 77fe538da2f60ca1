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

/// What a command came to.
pub(super) struct Report<'a> {
    /// The command's own name, which may not be how it was called.
    command: &'a str,
    invocation: &'a Invocation,
    text: String,
    /// The same as numbers, for hosts that draw it themselves.
    pub(super) context_usage: Option<RawJson>,
    /// Whether it could not do what it is for.
    failed: bool,
}

impl<'a> Report<'a> {
    pub(super) fn new(command: &'a str, invocation: &'a Invocation, text: String) -> Self {
        Self { command, invocation, text, context_usage: None, failed: false }
    }

    /// The command could not do what it is for.
    pub(super) fn failed(self) -> Self {
        Self { failed: true, ..self }
    }
}

/// Sends the `init` message of a command.
pub(super) async fn announce(agent: &Agent, prompt: &UserMessage) {
    agent.session.sink.send(catalog::init(agent, std::slice::from_ref(prompt))).await;
}

/// The same, with the model that was in use before the command was run.
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
    let mut frame = said(&text, source);
    frame.local_command_outcome = Some(outcome("unavailable_headless"));
    agent.session.sink.send(frame).await;
    ResultMessage { local_command: None, ..result(&agent.session, invocation, text, began) }
}

/// Tells the host what a command came to.
pub(super) async fn answer(agent: &Agent, report: Report<'_>) -> ResultMessage {
    let began = Instant::now();
    let session = &agent.session;
    let Report { command, invocation, text, context_usage, failed } = report;
    let source = if failed { texts::stderr(&text) } else { texts::stdout(&text) };
    note(session, &texts::builtin_mark(command, &invocation.args)).await;
    note(session, &source).await;
    let mut frame = said(&text, source);
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

/// An answer in the model's place.
fn said(text: &str, source: String) -> AssistantMessage {
    let mut frame = synthetic(vec![ContentBlock::text(text)]);
    frame.message.stop_reason = Some(StopReason::EndTurn);
    frame.message.stop_sequence = None;
    frame.local_command_source = Some(source);
    frame
}

/// What a command came to, if not to what it is for.
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

/// Notes in the transcript what a command did; the model does not see it.
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

/// Tells a host that wants to know it which prompt was taken for which command, if it has a name
/// for that prompt.
pub(super) async fn replay(session: &SessionContext, prompt: &UserMessage, mark: String) {
    if prompt.uuid.is_some() {
        let mut taken = prompt.clone();
        taken.message.content = Content::Text(mark);
        session.sink.replay_prompt(&taken).await;
    }
}
