//! Prompts for an agent.

use bowline_protocol::{ContentBlock, MessageUuid, PromptPriority, SessionId, UserMessage};

/// A prompt: text, blocks with images among them, or a whole message.
///
/// ```
/// use bowline_host::{ContentBlock, Prompt, PromptPriority};
///
/// let words = Prompt::from("What is in this folder?");
/// let urgent = Prompt::from("Stop and listen.").with_priority(PromptPriority::Now);
/// let picture = Prompt::from("Which knot is this?").with_image("iVBORw0KGgo=", "image/png");
/// let blocks = vec![
///     ContentBlock::text("This is a bowline:"),
///     ContentBlock::image_at("https://example.com/bowline.png"),
///     ContentBlock::text("How is it tied?"),
/// ];
/// let in_order = Prompt::from(blocks).with_uuid("6f1e2d3c-0000-4000-8000-000000000001");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt(pub(crate) Box<UserMessage>);

impl Prompt {
    /// Adds a picture: its bytes in base 64, and what it is, as in `image/png`.
    #[must_use]
    pub fn with_image(self, data: impl Into<String>, media_type: impl Into<String>) -> Self {
        self.with_block(ContentBlock::image(data, media_type))
    }

    /// Adds a picture at an address.
    #[must_use]
    pub fn with_image_at(self, url: impl Into<String>) -> Self {
        self.with_block(ContentBlock::image_at(url))
    }

    /// Adds a block of any kind.
    #[must_use]
    pub fn with_block(mut self, block: ContentBlock) -> Self {
        let content = &mut self.0.message.content;
        let mut blocks = std::mem::take(content).into_blocks();
        blocks.push(block);
        *content = blocks.into();
        self
    }

    /// Gives it a name: by its uuid it can be [taken back](crate::Client::cancel_message), and files
    /// [put back](crate::Client::rewind_files) to where they were before it.
    #[must_use]
    pub fn with_uuid(mut self, uuid: impl Into<MessageUuid>) -> Self {
        self.0.uuid = Some(uuid.into());
        self
    }

    /// Sets its priority, if the agent is at work or others wait.
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
        // Older agents require the field, even if it is empty.
        message.session_id.get_or_insert_with(SessionId::default);
        Self(Box::new(message))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pictures_follow_the_words() {
        let prompt = Prompt::from("Which?").with_image("AAAA", "image/png").with_image_at("u");
        let source = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
        let content = json!([
            {"type": "text", "text": "Which?"},
            {"type": "image", "source": source},
            {"type": "image", "source": {"type": "url", "url": "u"}},
        ]);
        assert_eq!(json!(prompt.0.message.content), content);
    }
}
