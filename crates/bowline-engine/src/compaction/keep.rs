//! Choice of the messages at the end of a conversation that a compaction keeps.

use std::sync::Arc;

use bowline_model::ModelMessage;
use bowline_protocol::{CompactTrigger, ContentBlock, Role};

use crate::{context::tokens, journal::KeptTail};

impl KeptTail {
    /// The tail to keep, if it has at most `most` tokens. A prompt is always kept.
    pub(super) fn of(messages: &[Arc<ModelMessage>], trigger: &CompactTrigger, most: u64) -> Self {
        let Some(last) = messages.last() else { return Self::Nothing };
        let holds_results = last.content.iter().any(|it| matches!(it, ContentBlock::ToolResult(_)));
        let kept = match (&last.role, holds_results) {
            (Role::Assistant, _) => Self::Response,
            (_, true) => Self::Round,
            (_, false) if *trigger == CompactTrigger::Auto => Self::Prompt,
            (_, false) => Self::Nothing,
        };
        let (rest, end) = messages.split_at(messages.len().saturating_sub(kept.len()));
        let fits = kept == Self::Prompt || tokens::of_messages(end) <= most;
        // Something must be left to summarize.
        let has_response = rest.iter().any(|message| message.role == Role::Assistant);
        if fits && has_response { kept } else { Self::Nothing }
    }

    /// The number of messages.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Prompt | Self::Response => 1,
            Self::Round => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use bowline_protocol::{ToolResultBlock, ToolUseBlock};

    use super::*;

    /// `U` is a prompt, `A` a response, `C` a call, `R` its result.
    fn conversation(shape: &str) -> Vec<Arc<ModelMessage>> {
        let message = |letter| match letter {
            'U' => ModelMessage::user(vec![ContentBlock::text("prompt")]),
            'A' => ModelMessage::assistant(vec![ContentBlock::text("response")]),
            'C' => ModelMessage::assistant(vec![ContentBlock::ToolUse(ToolUseBlock::default())]),
            _ => ModelMessage::user(vec![ContentBlock::ToolResult(ToolResultBlock::default())]),
        };
        shape.chars().map(|letter| Arc::new(message(letter))).collect()
    }

    #[test]
    fn the_end_stays_where_something_is_left_to_summarize() {
        use CompactTrigger::{Auto, Manual};
        for (shape, trigger, most, kept) in [
            ("", Manual, 1000, KeptTail::Nothing),
            ("UA", Manual, 1000, KeptTail::Nothing),
            ("UAUA", Manual, 1000, KeptTail::Response),
            ("UAU", Manual, 1000, KeptTail::Nothing),
            ("UAU", Auto, 0, KeptTail::Prompt),
            ("U", Auto, 1000, KeptTail::Nothing),
            ("UCR", Auto, 1000, KeptTail::Nothing),
            ("UCRCR", Auto, 1000, KeptTail::Round),
            ("UCRCR", Auto, 0, KeptTail::Nothing),
        ] {
            let messages = conversation(shape);
            assert_eq!(KeptTail::of(&messages, &trigger, most), kept, "{shape} {trigger}");
        }
    }
}
