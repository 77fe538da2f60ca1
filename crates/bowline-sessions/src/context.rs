//! Live context of a transcript: the conversation as the model sees it, and the session's state.

use bowline_protocol::{ContentBlock, DeferredToolUse, MessageUuid, RawJson, Role, Usage};

use crate::{
    head::{Id, IdSet},
    line::{AttachmentLine, CompactMetadata, CostState},
    names::Names,
};

/// A session as it can be resumed.
///
/// [`messages`](Self::messages) are a valid conversation for the API whatever the transcript looked
/// like: it begins with the user, the two take turns, and every call of a tool has its result in the
/// next message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveContext {
    /// The conversation since the last compaction, oldest first.
    pub messages: Vec<ContextMessage>,
    /// Context that the agent had added by itself, with its positions in the conversation.
    pub attachments: Vec<PlacedAttachment>,
    /// The line that the next one follows; `None` for an empty transcript.
    pub leaf: Option<MessageUuid>,
    /// State of the last turn, if it was interrupted.
    pub unfinished: Option<Unfinished>,
    /// The calls that hooks had put off, if the conversation ended with them. They have made-up results
    /// until they are run.
    pub deferred: Vec<DeferredToolUse>,
    /// The lines met: a prompt with the name of one was run before.
    pub known: KnownLines,
    /// The last compaction.
    pub compaction: Option<CompactMetadata>,
    /// The model of the last response.
    pub model: Option<String>,
    /// The tokens of the last response.
    pub usage: Option<Usage>,
    /// The permission mode of the last prompt.
    pub permission_mode: Option<String>,
    /// The to-do list as last written, an array.
    pub todos: Option<RawJson>,
    /// Cost of the session, if it ended properly.
    pub cost: Option<CostState>,
    /// Its title: given by the user, else generated.
    pub title: Option<String>,
    /// Its label.
    pub tag: Option<String>,
    /// The mode of the terminal.
    pub mode: Option<String>,
    /// The tools used in it.
    pub tools_used: Vec<String>,
    /// Its names, for the writer that continues it.
    pub(crate) names: Names,
}

/// The names of a transcript's lines, as far back as the conversation goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownLines(pub(crate) IdSet);

impl KnownLines {
    /// Whether there is a line of this name.
    pub fn contains(&self, uuid: &MessageUuid) -> bool {
        self.0.contains(&Id::new(uuid.as_str()))
    }

    /// Adds a name; `false` if it was there.
    pub fn insert(&mut self, uuid: &MessageUuid) -> bool {
        self.0.insert(Id::new(uuid.as_str()))
    }
}

/// One message of the conversation, made of one or more lines.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextMessage {
    /// Role.
    pub role: Role,
    /// Content.
    pub content: Vec<ContentBlock>,
    /// The lines it is made of, in order; none for what is made up here.
    pub uuids: Vec<MessageUuid>,
    /// Kind of message.
    pub kind: MessageKind,
    /// Id of the response in the API.
    pub message_id: Option<String>,
}

/// Kind of a message. One made of several lines is what its first line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// A prompt.
    Prompt,
    /// The agent added it on the user's side.
    Meta,
    /// It stands for everything before the last compaction.
    CompactSummary,
    /// Tool results.
    ToolResults,
    /// A model response.
    Response,
    /// Made up here, so that the conversation is valid.
    MadeUp,
}

/// Context that the agent had added by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedAttachment {
    /// The line of the conversation before it: one of a message's [`uuids`](ContextMessage::uuids).
    pub after: Option<MessageUuid>,
    /// The attachment.
    pub line: AttachmentLine,
}

/// State of an interrupted turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unfinished {
    /// The prompt, or the tool results, got no response.
    NoAnswer,
    /// Tool calls have no results; synthetic ones were added.
    NoToolResults,
}

/// Synthetic response to a prompt that got none, so that the next prompt is not
/// taken for a part of it. The official CLI uses the same text.
pub const NO_RESPONSE: &str = "No response requested.";

impl LiveContext {
    /// The last prompt or tool result got no response, and the synthetic one is not in
    /// `messages`: what a session goes on with that finishes the interrupted turn.
    pub fn without_synthetic_response(mut self) -> Self {
        let last = self.messages.last();
        if last.is_some_and(|m| m.kind == MessageKind::MadeUp && m.role == Role::Assistant) {
            self.messages.pop();
        }
        self
    }
}
