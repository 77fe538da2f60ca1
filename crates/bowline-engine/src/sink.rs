//! Message sink: stamps outgoing messages with an id and the session, and emits them in order.

use std::{collections::VecDeque, sync::Arc};

use bowline_protocol::{
    ApiRetryMessage, AssistantMessage, BackgroundTasksChangedMessage, CommandLifecycleMessage,
    CommandState, CommandsChangedMessage, CompactBoundaryMessage, ControlRequestProgressMessage,
    ConversationResetMessage, ElicitationCompleteMessage, Extra, HookProgressMessage,
    HookResponseMessage, HookStartedMessage, InformationalLevel, InformationalMessage, InitMessage,
    Message, MessageUuid, ModelFallbackMessage, ModelRefusalNoFallbackMessage, NotificationMessage,
    PermissionDeniedMessage, ResultMessage, SessionId, SessionStateChangedMessage,
    SessionTitleChangedMessage, StatusMessage, StreamEventMessage, TaskNotificationMessage,
    TaskProgressMessage, TaskStartedMessage, TaskUpdatedMessage, ThinkingTokensMessage,
    ToolProgressMessage, UserMessage,
};
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::{clock::timestamp, host::Host};

/// How many messages may be queued from synchronous code. The limit is reached only if the host has
/// stopped reading; the messages dropped then are progress, which it would not have shown.
const MAX_QUEUED: usize = 4096;

/// Sends the messages of a session to its host.
pub(crate) struct MessageSink {
    host: Arc<dyn Host>,
    session_id: RwLock<SessionId>,
    /// Whether the host wants its prompts replayed.
    pub(crate) replays_prompts: bool,
    /// Messages queued from synchronous code, flushed before the next frame.
    queued: Mutex<VecDeque<Message>>,
    /// A replayed prompt, sent right before the next message of the conversation.
    held: Mutex<Option<Message>>,
    /// Fires when a message was queued.
    pub(crate) enqueued: Notify,
    /// Held while a frame is emitted, so that frames stay in order.
    order: tokio::sync::Mutex<()>,
}

impl MessageSink {
    pub(crate) fn new(host: Arc<dyn Host>, session_id: SessionId, replays_prompts: bool) -> Self {
        Self {
            host,
            session_id: RwLock::new(session_id),
            replays_prompts,
            queued: Mutex::default(),
            held: Mutex::default(),
            enqueued: Notify::new(),
            order: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn host(&self) -> &Arc<dyn Host> {
        &self.host
    }

    pub(crate) fn session_id(&self) -> SessionId {
        self.session_id.read().clone()
    }

    /// From now on messages belong to another session (`/clear`).
    pub(crate) fn set_session_id(&self, session_id: SessionId) {
        *self.session_id.write() = session_id;
    }

    /// Sends a frame under a new id.
    pub(crate) fn send<F: Frame>(&self, frame: F) -> impl Future<Output = ()> + Send + use<'_, F> {
        self.send_as(new_uuid(), frame)
    }

    /// Sends a frame under a given id.
    pub(crate) fn send_as<F: Frame>(
        &self,
        uuid: MessageUuid,
        mut frame: F,
    ) -> impl Future<Output = ()> + Send + use<'_, F> {
        frame.stamp(uuid, self.session_id());
        // Converted at once: a message is smaller than most frames, and every caller's future holds it.
        self.emit(frame.into_message())
    }

    /// Sends a message as it is.
    pub(crate) async fn emit(&self, message: Message) {
        let _order = self.order.lock().await;
        self.drain().await;
        if is_conversation(&message) {
            let held = self.held.lock().take();
            if let Some(held) = held {
                self.host.emit(held).await;
            }
        }
        self.host.emit(message).await;
    }

    /// Sends a prompt that was dequeued back to its host, right before the first message that responds
    /// to it. Status messages may come earlier.
    pub(crate) fn replay(&self, uuid: MessageUuid, mut prompt: UserMessage) {
        prompt.stamp(uuid, self.session_id());
        *self.held.lock() = Some(prompt.into_message());
    }

    /// Queues a frame from synchronous code, which cannot wait for the host.
    pub(crate) fn enqueue(&self, mut frame: impl Frame) {
        frame.stamp(new_uuid(), self.session_id());
        let mut queued = self.queued.lock();
        if queued.len() < MAX_QUEUED {
            queued.push_back(frame.into_message());
            drop(queued);
            self.enqueued.notify_one();
        }
    }

    /// Emits the notice of a write to the transcript, if there is one.
    pub(crate) async fn emit_notice(&self, notice: Option<Message>) {
        if let Some(message) = notice {
            self.emit(message).await;
        }
    }

    /// Sends a text for the user.
    pub(crate) async fn inform(&self, level: InformationalLevel, content: impl Into<String>) {
        let content = content.into();
        self.send(InformationalMessage { content, level, ..InformationalMessage::default() }).await;
    }

    /// Sends a prompt back to a host that wants prompts replayed.
    pub(crate) async fn replay_prompt(&self, prompt: &UserMessage) {
        if self.replays_prompts {
            let mut replay = prompt.clone();
            replay.is_replay = Some(true);
            replay.timestamp.get_or_insert_with(timestamp);
            self.send(replay).await;
        }
    }

    /// Sends the queued messages.
    pub(crate) async fn flush(&self) {
        let _order = self.order.lock().await;
        self.drain().await;
    }

    async fn drain(&self) {
        loop {
            let next = self.queued.lock().pop_front();
            match next {
                Some(message) => self.host.emit(message).await,
                None => return,
            }
        }
    }
}

/// Whether a message is part of the conversation, and not about it. Replayed prompts are about it.
fn is_conversation(message: &Message) -> bool {
    match message {
        Message::Assistant(_) | Message::StreamEvent(_) | Message::Result(_) => true,
        Message::User(user) => user.is_replay != Some(true),
        _ => false,
    }
}

/// Generates a message id.
pub(crate) fn new_uuid() -> MessageUuid {
    MessageUuid(Uuid::new_v4().to_string())
}

/// The progress of a prompt.
pub(crate) fn lifecycle(command_uuid: MessageUuid, state: CommandState) -> CommandLifecycleMessage {
    CommandLifecycleMessage {
        command_uuid,
        state,
        uuid: MessageUuid::default(),
        session_id: SessionId::default(),
        extra: Extra::new(),
    }
}

/// A message that has an id and belongs to a session.
pub(crate) trait Frame: Send {
    fn stamp(&mut self, uuid: MessageUuid, session_id: SessionId);
    fn into_message(self) -> Message;
}

/// Frames whose id and session are plain fields.
macro_rules! frames {
    ($($frame:ident),* $(,)?) => {$(
        impl Frame for $frame {
            fn stamp(&mut self, uuid: MessageUuid, session_id: SessionId) {
                self.uuid = uuid;
                self.session_id = session_id;
            }

            fn into_message(self) -> Message {
                Message::from(self)
            }
        }
    )*};
}

frames! {
    ApiRetryMessage,
    AssistantMessage,
    BackgroundTasksChangedMessage,
    CommandLifecycleMessage,
    CommandsChangedMessage,
    CompactBoundaryMessage,
    ControlRequestProgressMessage,
    ConversationResetMessage,
    ElicitationCompleteMessage,
    HookProgressMessage,
    HookResponseMessage,
    HookStartedMessage,
    InformationalMessage,
    InitMessage,
    ModelFallbackMessage,
    ModelRefusalNoFallbackMessage,
    NotificationMessage,
    PermissionDeniedMessage,
    ResultMessage,
    SessionStateChangedMessage,
    SessionTitleChangedMessage,
    StatusMessage,
    StreamEventMessage,
    TaskNotificationMessage,
    TaskProgressMessage,
    TaskStartedMessage,
    TaskUpdatedMessage,
    ThinkingTokensMessage,
    ToolProgressMessage,
}

/// A user message keeps the id its host gave it.
impl Frame for UserMessage {
    fn stamp(&mut self, uuid: MessageUuid, session_id: SessionId) {
        self.uuid.get_or_insert(uuid);
        self.session_id = Some(session_id);
    }

    fn into_message(self) -> Message {
        Message::from(self)
    }
}

/// Large frames that are moved often are boxed from the beginning.
macro_rules! boxed_frames {
    ($($variant:ident($frame:ident)),* $(,)?) => {$(
        impl Frame for Box<$frame> {
            fn stamp(&mut self, uuid: MessageUuid, session_id: SessionId) {
                (**self).stamp(uuid, session_id);
            }

            fn into_message(self) -> Message {
                Message::$variant(self)
            }
        }
    )*};
}

boxed_frames! {
    Assistant(AssistantMessage),
    User(UserMessage),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use uuid::Version;

    use super::*;

    #[test]
    fn new_uuids_are_valid_and_distinct() {
        let ids: BTreeSet<_> = (0..10_000).map(|_| new_uuid().0).collect();
        assert_eq!(ids.len(), 10_000);
        let parsed = ids.iter().map(|id| Uuid::parse_str(id).unwrap());
        assert!(parsed.into_iter().all(|id| id.get_version() == Some(Version::Random)));
    }
}
