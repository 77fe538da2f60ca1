//! Conversation view: messages and deltas folded together.

mod fold;
mod growing;
mod watch;

use std::collections::BTreeMap;

use bowline_protocol::{ContentBlock, MessageUuid, ModelUsage, Role, SessionId, ToolUseId, Usage};

use self::growing::Growing;
pub use self::watch::ConversationWatch;

/// The conversation so far, always up to date.
///
/// An agent's messages are folded into it: the blocks of a model response come together, also while it
/// is still being streamed (with
/// [`include_partial_messages`](crate::MessageOptions::include_partial_messages)). It holds the whole
/// conversation, so keep one only where it is displayed.
///
/// Get one that follows a stream with [`Messages::follow`](crate::Messages::follow), or fold
/// messages yourself:
///
/// ```
/// use bowline_host::{Conversation, Embedded, Options, query};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), bowline_host::Error> {
/// let options = Options::default().embedded(Embedded::script(std::env::temp_dir()));
/// let mut conversation = Conversation::default();
/// let mut messages = query("SAY hello", options);
/// while let Some(message) = messages.next().await {
///     conversation.receive(&message?);
/// }
/// assert_eq!(conversation.messages().last().unwrap().text(), "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    messages: Vec<Utterance>,
    growing: Growing,
    session_id: Option<SessionId>,
    turn_usage: Usage,
    model_usage: BTreeMap<String, ModelUsage>,
    cost_usd: f64,
}

/// One message of one side: a prompt, or a whole model response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Utterance {
    /// Role of its author.
    pub role: Role,
    /// What, block by block.
    pub content: Vec<ContentBlock>,
    /// Whether more of it is to come.
    pub is_partial: bool,
    /// The API's id of a model response.
    pub id: Option<String>,
    /// The frames it came in.
    pub uuids: Vec<MessageUuid>,
    /// Inside a subagent: the call that started it.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Usage of a model response so far.
    pub usage: Usage,
    /// Number of complete blocks; those after them still grow.
    pub(self) whole: usize,
}

impl Utterance {
    /// Its words.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(ContentBlock::as_text).collect()
    }
}

impl Conversation {
    /// The messages so far, the oldest first.
    pub fn messages(&self) -> &[Utterance] {
        &self.messages
    }

    /// The session's id, as soon as a message has named it.
    pub fn session_id(&self) -> Option<&SessionId> {
        self.session_id.as_ref()
    }

    /// The tokens of the last turn, without subagents.
    pub fn turn_usage(&self) -> &Usage {
        &self.turn_usage
    }

    /// The tokens of the session up to its last result, by model.
    pub fn model_usage(&self) -> &BTreeMap<String, ModelUsage> {
        &self.model_usage
    }

    /// What the session has cost up to its last result.
    pub fn cost_usd(&self) -> f64 {
        self.cost_usd
    }
}
