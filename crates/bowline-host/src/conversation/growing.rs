//! Partial block that still grows.

use std::collections::BTreeMap;

use bowline_protocol::{ContentBlock, Delta, RawJson, ToolUseId};

/// What of the blocks that grow cannot be seen in them yet: the inputs of tools, which are JSON
/// only once they are whole. Each agent, by the call that started it, speaks one block at a time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Growing(BTreeMap<Option<ToolUseId>, String>);

impl Growing {
    /// A block begins.
    pub(super) fn begin(&mut self, agent: Option<&ToolUseId>) {
        self.0.remove(&agent.cloned());
    }

    /// A block grows.
    pub(super) fn grow(&mut self, agent: Option<&ToolUseId>, block: &mut ContentBlock, by: &Delta) {
        match (block, by) {
            (ContentBlock::Text(block), Delta::TextDelta(delta)) => {
                block.text.push_str(&delta.text);
            }
            (ContentBlock::Thinking(block), Delta::ThinkingDelta(delta)) => {
                block.thinking.push_str(&delta.thinking);
            }
            (ContentBlock::ToolUse(block), Delta::InputJsonDelta(delta)) => {
                let input = self.0.entry(agent.cloned()).or_default();
                input.push_str(&delta.partial_json);
                if let Ok(whole) = RawJson::from_text(input.clone()) {
                    block.input = whole;
                }
            }
            _ => {}
        }
    }
}
