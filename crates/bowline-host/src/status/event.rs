//! Events of a session, as a stream.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bowline_protocol::{Content, ContentBlock, Message, RawJson, ResultMessage, ToolUseId};
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::broadcast::{self, error::RecvError};

use super::SessionStatus;
use crate::{error::Error, state::SessionState};

/// Something that happened in a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SessionEvent {
    /// The agent sent a message.
    Message(Arc<Message>),
    /// The model calls a tool, of this program or another.
    ToolCall(ToolCall),
    /// A tool has returned.
    ToolResult(ToolAnswer),
    /// The session is somewhere else now.
    StateChange {
        /// Where it was.
        from: SessionState,
        /// Where it is.
        to: SessionState,
        /// All that is known of it.
        status: Arc<SessionStatus>,
    },
    /// The run is over, and this is its result, which may be an error.
    Complete(Arc<ResultMessage>),
    /// Something went wrong: with [one message](Error::is_about_one_message), or with the session,
    /// which is then over.
    Error(Error),
    /// The reader was so slow that this many events are lost to it. Messages are not: they are
    /// in the [stream of messages](crate::Session::messages).
    Missed(u64),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// Names the call.
    pub id: ToolUseId,
    /// The tool, as the model calls it.
    pub name: String,
    /// Its arguments.
    pub input: RawJson,
    /// Inside a subagent: the call that started it.
    pub parent_tool_use_id: Option<ToolUseId>,
}

impl ToolCall {
    /// The MCP server whose tool it is: the `calc` of `mcp__calc__add`.
    pub fn server_name(&self) -> Option<&str> {
        self.name.strip_prefix("mcp__")?.split_once("__").map(|(server, _)| server)
    }
}

/// Result of a tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolAnswer {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The tool, as the model calls it. Unknown if the call was made before this session began.
    pub tool_name: Option<String>,
    /// Content of the result.
    pub content: Option<Content>,
    /// Whether the tool failed, or was not allowed to run.
    pub is_error: bool,
    /// Inside a subagent: the call that started it.
    pub parent_tool_use_id: Option<ToolUseId>,
}

/// Calls that have no result yet, and their tools.
#[derive(Debug, Default)]
pub(super) struct OpenCalls(HashMap<ToolUseId, String>);

impl OpenCalls {
    /// Notes the calls and results in a message.
    pub(super) fn note(&mut self, message: &Message) {
        for block in parts(message).0 {
            match block {
                ContentBlock::ToolUse(call) => {
                    self.0.insert(call.id.clone(), call.name.clone());
                }
                ContentBlock::ToolResult(result) => {
                    self.0.remove(&result.tool_use_id);
                }
                _ => {}
            }
        }
    }

    /// The calls and results in a message, which are noted as well.
    pub(super) fn events(&mut self, message: &Message) -> Vec<SessionEvent> {
        let (blocks, parent) = parts(message);
        let event = |block: &ContentBlock| match block {
            ContentBlock::ToolUse(call) => Some(SessionEvent::ToolCall(ToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
                input: call.input.clone(),
                parent_tool_use_id: parent.cloned(),
            })),
            ContentBlock::ToolResult(result) => Some(SessionEvent::ToolResult(ToolAnswer {
                tool_use_id: result.tool_use_id.clone(),
                tool_name: self.0.get(&result.tool_use_id).cloned(),
                content: result.content.clone(),
                is_error: result.is_error == Some(true),
                parent_tool_use_id: parent.cloned(),
            })),
            _ => None,
        };
        let events = blocks.iter().filter_map(event).collect();
        self.note(message);
        events
    }
}

/// The blocks of a message, and the call it belongs to inside a subagent.
fn parts(message: &Message) -> (&[ContentBlock], Option<&ToolUseId>) {
    match message {
        Message::Assistant(message) => {
            (&message.message.content[..], message.parent_tool_use_id.as_ref())
        }
        Message::User(user) => match &user.message.content {
            Content::Blocks(blocks) => (&blocks[..], user.parent_tool_use_id.as_ref()),
            _ => (&[], None),
        },
        _ => (&[], None),
    }
}

/// What happens in a session, as a [`Stream`]. It ends with the session.
///
/// A reader that is too slow delays nothing: it receives how much it has
/// [missed](SessionEvent::Missed).
pub struct Events(stream::BoxStream<'static, SessionEvent>);

impl Events {
    /// `alive` is kept while there is a reader.
    pub(crate) fn new(
        receiver: broadcast::Receiver<Arc<SessionEvent>>,
        alive: impl Send + 'static,
    ) -> Self {
        let events = stream::unfold((receiver, alive), async |(mut receiver, alive)| {
            let event = match receiver.recv().await {
                Ok(event) => Arc::unwrap_or_clone(event),
                Err(RecvError::Lagged(count)) => SessionEvent::Missed(count),
                Err(RecvError::Closed) => return None,
            };
            Some((event, (receiver, alive)))
        });
        Self(events.boxed())
    }

    /// The next event.
    ///
    /// Cancel safety: no event is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<SessionEvent> {
        self.0.next().await
    }
}

impl Stream for Events {
    type Item = SessionEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Events")
    }
}
