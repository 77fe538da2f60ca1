//! Estimates of token counts.

use std::sync::Arc;

use bowline_model::{ModelMessage, ToolDefinition};
use bowline_protocol::{Content, ContentBlock};

/// Bytes per token, roughly, in prose and code.
const BYTES_PER_TOKEN: usize = 4;
/// Tokens of an image or a document page, independent of its bytes.
const IMAGE: u64 = 1600;
/// Tokens of a message besides its content.
const MESSAGE: u64 = 4;

/// The estimate for a text.
pub(crate) fn of_text(text: &str) -> u64 {
    text.len().div_ceil(BYTES_PER_TOKEN) as u64
}

/// The estimate for a message.
pub(crate) fn of_message(message: &ModelMessage) -> u64 {
    MESSAGE + message.content.iter().map(of_block).sum::<u64>()
}

/// The estimate for a conversation.
pub(crate) fn of_messages(messages: &[Arc<ModelMessage>]) -> u64 {
    messages.iter().map(|message| of_message(message)).sum()
}

/// The estimate for a tool's definition.
pub(crate) fn of_tool(tool: &ToolDefinition) -> u64 {
    of_text(&tool.name) + of_text(&tool.description) + of_text(tool.input_schema.get())
}

/// The estimate for a block.
pub(crate) fn of_block(block: &ContentBlock) -> u64 {
    match block {
        ContentBlock::Text(text) => of_text(&text.text),
        ContentBlock::Thinking(thinking) => of_text(&thinking.thinking),
        ContentBlock::ToolUse(call) => of_text(&call.name) + of_text(call.input.get()),
        ContentBlock::ToolResult(result) => result.content.as_ref().map_or(0, of_content),
        ContentBlock::Image(_) => IMAGE,
        other => serde_json::to_string(other).map_or(0, |json| of_text(&json)),
    }
}

fn of_content(content: &Content) -> u64 {
    match content {
        Content::Text(text) => of_text(text),
        Content::Blocks(blocks) => blocks.iter().map(of_block).sum(),
    }
}
