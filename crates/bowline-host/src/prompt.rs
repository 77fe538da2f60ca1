//! What an agent is told to do.

use bowline_protocol::{ContentBlock, SessionId, UserMessage};

/// What an agent is told to do: words, blocks with pictures among them, or a whole message.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt(pub(crate) Box<UserMessage>);

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
