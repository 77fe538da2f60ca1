//! Conversation as the model sees it: always a history that the API accepts.
//!
//! Roles alternate, every tool call has its result first in the message after it,
//! and messages are shared in memory between requests.

use std::{collections::HashSet, sync::Arc};

use bowline_model::ModelMessage;
use bowline_protocol::{Content, ContentBlock, Role, ToolResultBlock, ToolUseId, UserMessage};

/// The result that is added for a call without one.
const NO_RESULT: &str = "[Tool call interrupted before it gave a result]";

/// Replaces a prompt without content, which the API would refuse.
pub(crate) const NO_CONTENT: &str = "(no content)";

/// The messages of one conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    messages: Vec<Arc<ModelMessage>>,
    /// The API's message id of the response that blocks are added to.
    open_response: Option<String>,
}

impl Conversation {
    /// A conversation that begins with these messages.
    pub(crate) fn new(messages: Vec<ModelMessage>) -> Self {
        let mut conversation = Self::default();
        for message in messages {
            match message.role {
                Role::Assistant => conversation.push_response(message.content),
                _ => conversation.push_user(message.content),
            }
        }
        conversation
    }

    /// A conversation that continues messages which are already valid.
    pub(crate) fn from_shared(messages: Vec<Arc<ModelMessage>>) -> Self {
        Self { messages, open_response: None }
    }

    /// The messages, for a request.
    pub(crate) fn messages(&self) -> &[Arc<ModelMessage>] {
        &self.messages
    }

    /// Whether there are no messages.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Adds a message of the user, a tool or the engine.
    ///
    /// Calls without a result get one first: the API requires it.
    pub(crate) fn push_user(&mut self, blocks: Vec<ContentBlock>) {
        if blocks.is_empty() {
            return;
        }
        self.open_response = None;
        let open = self.open_calls(&blocks);
        let blocks = || open.into_iter().map(no_result).chain(blocks).collect::<Vec<_>>();
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => {
                let content = &mut Arc::make_mut(last).content;
                content.extend(blocks());
                results_first(content);
            }
            _ => {
                let mut content = blocks();
                results_first(&mut content);
                self.messages.push(Arc::new(ModelMessage::user(content)));
            }
        }
    }

    /// Adds one complete block of the response with this message id.
    pub(crate) fn push_block(&mut self, message_id: &str, block: ContentBlock) {
        let open = self.open_response.as_deref() == Some(message_id);
        match self.messages.last_mut() {
            Some(last) if open && last.role == Role::Assistant => {
                Arc::make_mut(last).content.push(block);
            }
            _ => self.push_response(vec![block]),
        }
        self.open_response = Some(message_id.to_owned());
    }

    /// Adds a whole response.
    pub(crate) fn push_response(&mut self, blocks: Vec<ContentBlock>) {
        if blocks.is_empty() {
            return;
        }
        self.open_response = None;
        match self.messages.last_mut() {
            Some(last) if last.role == Role::Assistant => {
                Arc::make_mut(last).content.extend(blocks);
            }
            _ => self.messages.push(Arc::new(ModelMessage::assistant(blocks))),
        }
    }

    /// Replaces the placeholder result of a call of the last response by the real one.
    pub(crate) fn replace_result(&mut self, block: ContentBlock) {
        let Some(last) = self.messages.last_mut().filter(|last| last.role == Role::User) else {
            return self.push_user(vec![block]);
        };
        let content = &mut Arc::make_mut(last).content;
        match content.iter_mut().find(|other| result_of(other) == result_of(&block)) {
            Some(placeholder) => *placeholder = block,
            None => self.push_user(vec![block]),
        }
    }

    /// Removes thinking that another model could not verify.
    pub(crate) fn drop_thinking(&mut self) {
        drop_thinking(&mut self.messages);
    }

    /// The calls of the last response that have a result neither in the conversation nor in `blocks`.
    fn open_calls(&self, blocks: &[ContentBlock]) -> Vec<ToolUseId> {
        let Some(last) = self.messages.last().filter(|last| last.role == Role::Assistant) else {
            return Vec::new();
        };
        let finished: HashSet<&ToolUseId> = blocks.iter().filter_map(result_of).collect();
        let calls = last.content.iter().filter_map(|block| match block {
            ContentBlock::ToolUse(call) => Some(&call.id),
            _ => None,
        });
        calls.filter(|id| !finished.contains(id)).cloned().collect()
    }
}

/// Removes thinking from messages for a model that could not verify it.
pub(crate) fn drop_thinking(messages: &mut Vec<Arc<ModelMessage>>) {
    let is_thinking = |block: &ContentBlock| {
        matches!(block, ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_))
    };
    for message in &mut *messages {
        if message.content.iter().any(is_thinking) {
            Arc::make_mut(message).content.retain(|block| !is_thinking(block));
        }
    }
    messages.retain(|message| !message.content.is_empty());
}

/// A prompt as blocks for the model.
pub(crate) fn prompt_blocks(prompt: &UserMessage) -> Vec<ContentBlock> {
    let pasted = prompt.pasted_content.iter().flatten().cloned();
    let contents = [prompt.message.content.clone()].into_iter().chain(pasted);
    let mut blocks: Vec<_> = contents.flat_map(Content::into_blocks).collect();
    // The API refuses messages without content.
    for block in &mut blocks {
        if block.as_text() == Some("") {
            *block = ContentBlock::text(NO_CONTENT);
        }
    }
    if blocks.is_empty() {
        blocks.push(ContentBlock::text(NO_CONTENT));
    }
    blocks
}

/// The call whose result this is.
fn result_of(block: &ContentBlock) -> Option<&ToolUseId> {
    match block {
        ContentBlock::ToolResult(result) => Some(&result.tool_use_id),
        _ => None,
    }
}

fn no_result(id: ToolUseId) -> ContentBlock {
    ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id: id,
        content: Some(Content::from(NO_RESULT)),
        is_error: Some(true),
        ..ToolResultBlock::default()
    })
}

/// Moves results to the front, as the API requires; their order stays.
fn results_first(content: &mut [ContentBlock]) {
    content.sort_by_key(|block| !matches!(block, ContentBlock::ToolResult(_)));
}

#[cfg(test)]
mod tests {
    use bowline_protocol::ToolUseBlock;

    use super::*;

    fn call(id: &str) -> ContentBlock {
        ContentBlock::ToolUse(ToolUseBlock { id: id.into(), ..ToolUseBlock::default() })
    }

    fn result(id: &str) -> ContentBlock {
        let tool_use_id = id.into();
        ContentBlock::ToolResult(ToolResultBlock { tool_use_id, ..ToolResultBlock::default() })
    }

    /// The conversation in short: `U[text]`, `A[use:1]`, `U[result:1!]`.
    fn shape(conversation: &Conversation) -> String {
        let block = |block: &ContentBlock| match block {
            ContentBlock::Text(text) => text.text.clone(),
            ContentBlock::ToolUse(call) => format!("use:{}", call.id),
            ContentBlock::ToolResult(result) => {
                let mark = if result.is_error == Some(true) { "!" } else { "" };
                format!("result:{}{mark}", result.tool_use_id)
            }
            other => format!("{other:?}"),
        };
        let message = |message: &Arc<ModelMessage>| {
            let who = if message.role == Role::User { "U" } else { "A" };
            let blocks: Vec<_> = message.content.iter().map(block).collect();
            format!("{who}[{}]", blocks.join(","))
        };
        conversation.messages().iter().map(message).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn blocks_of_one_response_are_one_message() {
        let mut conversation = Conversation::default();
        conversation.push_user(vec![ContentBlock::text("hi")]);
        conversation.push_block("m1", ContentBlock::text("a"));
        conversation.push_block("m1", call("1"));
        conversation.push_user(vec![result("1")]);
        conversation.push_block("m2", ContentBlock::text("b"));
        assert_eq!(shape(&conversation), "U[hi] A[a,use:1] U[result:1] A[b]");
    }

    #[test]
    fn results_precede_text_even_if_added_later() {
        let mut conversation = Conversation::default();
        conversation.push_block("m1", call("1"));
        conversation.push_user(vec![ContentBlock::text("and this"), result("1")]);
        conversation.push_user(vec![ContentBlock::text("more")]);
        assert_eq!(shape(&conversation), "A[use:1] U[result:1,and this,more]");
    }

    #[test]
    fn open_call_gets_a_result_before_the_next_message() {
        let mut conversation = Conversation::default();
        conversation.push_block("m1", call("1"));
        conversation.push_block("m1", call("2"));
        conversation.push_user(vec![result("2"), ContentBlock::text("next")]);
        assert_eq!(shape(&conversation), "A[use:1,use:2] U[result:1!,result:2,next]");
    }

    #[test]
    fn consecutive_responses_become_one_message() {
        let mut conversation = Conversation::default();
        conversation.push_block("m1", ContentBlock::text("a"));
        conversation.push_block("m2", ContentBlock::text("b"));
        assert_eq!(shape(&conversation), "A[a,b]");
    }

    #[test]
    fn clone_shares_messages() {
        let mut conversation = Conversation::default();
        conversation.push_user(vec![ContentBlock::text("hi")]);
        let request = conversation.messages().to_vec();
        conversation.push_user(vec![ContentBlock::text("more")]);
        assert_eq!(request[0].content.len(), 1, "a request in progress does not change");
    }
}
