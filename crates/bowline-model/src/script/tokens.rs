//! Counting tokens: not like any real model, but always the same.

use bowline_protocol::{Content, ContentBlock};

use crate::ModelRequest;

/// Tokens of an image or document.
const TOKENS_OF_A_PICTURE: u64 = 1000;

/// The input tokens of a request.
pub(super) fn count_input(request: &ModelRequest) -> u64 {
    let system = request.system.iter().map(|block| in_text(&block.text));
    let blocks = request.messages.iter().flat_map(|message| &message.content).map(in_block);
    let tools = request.tools.iter().map(|tool| {
        in_text(&tool.name) + in_text(&tool.description) + in_text(tool.input_schema.get())
    });
    system.chain(blocks).chain(tools).sum::<u64>().max(1)
}

/// Four bytes are a token.
pub(super) fn in_text(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

fn in_block(block: &ContentBlock) -> u64 {
    match block {
        ContentBlock::Text(block) => in_text(&block.text),
        ContentBlock::Thinking(block) => in_text(&block.thinking),
        ContentBlock::ToolUse(call) => in_text(&call.name) + in_text(call.input.get()),
        ContentBlock::ToolResult(result) => match &result.content {
            None => 0,
            Some(Content::Text(text)) => in_text(text),
            Some(Content::Blocks(blocks)) => blocks.iter().map(in_block).sum(),
        },
        ContentBlock::Image(_) | ContentBlock::Document(_) => TOKENS_OF_A_PICTURE,
        _ => 0,
    }
}
