//! `/clear`: ends the conversation and begins a new session.

use bowline_protocol::{
    ConversationResetMessage, ConversationResetTrigger, EventInput, Extra, HookEvent, MessageUuid,
    ResultMessage, SessionEndInput, SessionId, SessionStartSource, UserMessage,
};
use bowline_sessions::CustomTitle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::local;
use crate::{
    agent::{Agent, AutoCompactions},
    catalog,
    clock::timestamp,
    conversation::Conversation,
    identity::Identity,
    instructions::LoadReason,
    library::Invocation,
    session_context::SessionContext,
    sink::new_uuid,
    start_hooks,
};

pub(super) async fn run(
    agent: &mut Agent,
    invocation: &Invocation,
    prompt: &UserMessage,
    cancel: &CancellationToken,
) -> ResultMessage {
    let began = Instant::now();
    let session = std::sync::Arc::clone(&agent.session);
    end_hooks(&session, cancel).await;
    announce(&session, prompt).await;
    agent.conversation = Conversation::default();
    agent.compactions = AutoCompactions::default();
    if !session.usage.ledger().by_model().is_empty() {
        session
            .sink
            .emit_notice(session.journal.note(session.usage.cost_state(session.sink.session_id())))
            .await;
    }
    begin_session(&session, &invocation.args).await;
    agent.note_context();
    let texts = start_hooks::run(&session, SessionStartSource::Clear, cancel).await;
    session.pending.add_context(texts);
    session.sink.send(catalog::init(agent, &[])).await;
    local::result(&session, invocation, "", began)
}

/// Notifies the host; the frame still belongs to the session that ends.
async fn announce(session: &SessionContext, prompt: &UserMessage) {
    let uuid = new_uuid();
    let reset = ConversationResetMessage {
        new_conversation_id: SessionId(uuid.0.clone()),
        trigger: Some(ConversationResetTrigger::Clear),
        user_message_uuid: Some(prompt.uuid.clone().unwrap_or_else(new_uuid)),
        timestamp: Some(timestamp()),
        uuid: MessageUuid::default(),
        session_id: SessionId::default(),
        extra: Extra::new(),
    };
    session.sink.send_as(uuid, reset).await;
    session.tasks.announce();
    session.sink.flush().await;
}

/// Resets the state of the conversation, and switches to a new transcript.
async fn begin_session(session: &SessionContext, title: &str) {
    let id = SessionId(uuid::Uuid::new_v4().to_string());
    let writer = session.journal.with(|writer| match writer.successor(id.clone()) {
        Ok(successor) => Some(successor),
        Err(error) => {
            tracing::warn!(%error, "the new conversation is not saved");
            None
        }
    });
    session.journal.replace(writer);
    session.sink.set_session_id(id.clone());
    session.usage.reset();
    session.model_context.forget(LoadReason::SessionStart);
    *session.model_context.compactions() = Default::default();
    session.workspace.seen().clear();
    session.workspace.todos().replace(Vec::new());
    session.prompt.clear();
    session.pending.take_context();
    session.title.replace((!title.is_empty()).then(|| title.to_owned()));
    if !title.is_empty() {
        let line = CustomTitle {
            custom_title: title.to_owned(),
            session_id: id,
            ..CustomTitle::default()
        };
        session.sink.emit_notice(session.journal.note(line)).await;
    }
}

async fn end_hooks(session: &SessionContext, cancel: &CancellationToken) {
    if session.hooks.has(HookEvent::SessionEnd) {
        let event =
            EventInput::SessionEnd(SessionEndInput { reason: "clear".into(), extra: Extra::new() });
        session.hooks.run(&Identity::Main, event, cancel).await;
    }
}
