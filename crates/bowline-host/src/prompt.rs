//! What an agent is told to do.

use bowline_protocol::{ContentBlock, MessageUuid, PromptPriority, SessionId, UserMessage};

/// What an agent is told to do: words, blocks with pictures among them, or a whole message.
///
/// ```
/// use bowline_host::{ContentBlock, Prompt, PromptPriority};
/// use serde_json::json;
///
/// # fn main() -> serde_json::Result<()> {
/// let words = Prompt::from("What is in this folder?");
/// let urgent = Prompt::from("Stop and listen.").with_priority(PromptPriority::Now);
/// let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="});
/// let blocks: Vec<ContentBlock> = serde_json::from_value(json!([
///     {"type": "text", "text": "Which knot is this?"},
///     {"type": "image", "source": source},
/// ]))?;
/// let picture = Prompt::from(blocks).with_uuid("6f1e2d3c-0000-4000-8000-000000000001");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt(pub(crate) Box<UserMessage>);

impl Prompt {
    /// Gives it a name: by its uuid it can be [taken back](crate::Client::cancel_message), and files
    /// [put back](crate::Client::rewind_files) to where they were before it.
    #[must_use]
    pub fn with_uuid(mut self, uuid: impl Into<MessageUuid>) -> Self {
        self.0.uuid = Some(uuid.into());
        self
    }

    /// Says when its turn comes, if the agent is at work or others wait.
    #[must_use]
    pub fn with_priority(mut self, priority: PromptPriority) -> Self {
        self.0.priority = Some(priority);
        self
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::from(UserMessage::prompt(text))
    }
}

impl From<Vec<ContentBlock>> for Prompt {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::from(UserMessage::prompt(blocks))
    }
}

impl From<UserMessage> for Prompt {
    fn from(mut message: UserMessage) -> Self {
        // Older agents want to see the field, whatever is in it.
        message.session_id.get_or_insert_with(SessionId::default);
        Self(Box::new(message))
    }
}
