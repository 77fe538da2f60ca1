//! `/clear`: the conversation ends and a new session begins in its place.

use bowline_protocol::{
    ConversationResetMessage, ConversationResetTrigger, EventInput, Extra, HookEvent, MessageUuid,
    ResultMessage, SessionEndInput, SessionId, SessionStartSource, UserMessage,
};
use bowline_sessions::CustomTitle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Invocation, local};
use crate::{
    agent::{Agent, AutoCompactions},
    clock::timestamp,
    context::LoadReason,
    conversation::Conversation,
    identity::Identity,
    session::{Shared, catalog},
    sink::new_uuid,
    usage::UsageLedger,
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
    if !session.ledger().by_model().is_empty() {
        session.note_costs().await;
    }
    begin_session(&session, &invocation.args).await;
    agent.note_context();
    let texts = session.begin(SessionStartSource::Clear, cancel).await;
    session.live().context.extend(texts);
    session.sink.send(catalog::init(agent, &[])).await;
    local::result(&session, invocation, "", began)
}

/// Tells the host; the frame still belongs to the session that ends.
async fn announce(session: &Shared, prompt: &UserMessage) {
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
    session.board.announce();
    session.sink.flush().await;
}

/// Forgets all that belonged to the conversation, and writes elsewhere from now on.
async fn begin_session(session: &Shared, title: &str) {
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
    *session.ledger() = UsageLedger::new(session.config.prices.clone());
    session.context.forget(LoadReason::SessionStart);
    *session.context.compactions() = Default::default();
    session.workspace.seen().clear();
    session.workspace.todos().replace(Vec::new());
    {
        let mut live = session.live();
        live.prompt_id = None;
        live.context.clear();
        live.title = (!title.is_empty()).then(|| title.to_owned());
    }
    if !title.is_empty() {
        let line = CustomTitle {
            custom_title: title.to_owned(),
            session_id: id,
            ..CustomTitle::default()
        };
        session.emit_notice(session.journal.note(line)).await;
    }
}

async fn end_hooks(session: &Shared, cancel: &CancellationToken) {
    if session.has_hooks(HookEvent::SessionEnd) {
        let event =
            EventInput::SessionEnd(SessionEndInput { reason: "clear".into(), extra: Extra::new() });
        session.run_hooks(&Identity::Main, event, cancel).await;
    }
}
