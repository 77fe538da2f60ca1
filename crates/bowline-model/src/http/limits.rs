//! Size limits of a response. A server that goes on without end would fill the memory of
//! everybody who listens.

use bowline_protocol::{Delta, StreamEvent};

use crate::{ErrorKind, ModelError};

/// Limit of a stream, in bytes as received. The longest responses of today's models are a
/// fifth of it, with all that servers write around every token.
const LONGEST_STREAM: usize = 256 << 20;

/// Limit of the content: text, thinking and the input of calls together.
const LONGEST_CONTENT: usize = 32 << 20;

/// Limit on the blocks of a response.
const MOST_BLOCKS: usize = 10_000;

/// Amount received of one response.
#[derive(Debug, Default)]
pub(super) struct Received {
    bytes: usize,
    content: usize,
    blocks: usize,
}

impl Received {
    /// Adds bytes of the stream.
    pub(super) fn bytes(&mut self, more: usize, origin: &str) -> Result<(), ModelError> {
        self.bytes = self.bytes.saturating_add(more);
        check(self.bytes, LONGEST_STREAM, origin)
    }

    /// Adds the content of an event.
    pub(super) fn event(&mut self, event: &StreamEvent, origin: &str) -> Result<(), ModelError> {
        match event {
            StreamEvent::ContentBlockStart(_) => self.blocks += 1,
            StreamEvent::ContentBlockDelta(delta) => {
                let more = match &delta.delta {
                    Delta::TextDelta(delta) => delta.text.len(),
                    Delta::ThinkingDelta(delta) => delta.thinking.len(),
                    Delta::InputJsonDelta(delta) => delta.partial_json.len(),
                    _ => 0,
                };
                self.content = self.content.saturating_add(more);
            }
            _ => {}
        }
        if self.blocks > MOST_BLOCKS {
            let message = format!("the response of {origin} has more than {MOST_BLOCKS} blocks");
            return Err(ModelError::new(ErrorKind::Unreadable, message));
        }
        check(self.content, LONGEST_CONTENT, origin)
    }
}

fn check(length: usize, limit: usize, origin: &str) -> Result<(), ModelError> {
    if length <= limit {
        return Ok(());
    }
    let message = format!("the response of {origin} is longer than {} MiB", limit >> 20);
    Err(ModelError::new(ErrorKind::Unreadable, message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(value: serde_json::Value) -> StreamEvent {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn response_over_the_size_limit_is_an_error() {
        let piece = "x".repeat(1 << 20);
        for delta in [
            json!({"type": "text_delta", "text": piece}),
            json!({"type": "thinking_delta", "thinking": piece}),
            json!({"type": "input_json_delta", "partial_json": piece}),
        ] {
            let delta = event(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
            let mut received = Received::default();
            for _ in 0..32 {
                received.event(&delta, "o").unwrap();
            }
            let error = received.event(&delta, "o").unwrap_err();
            assert_eq!(error.to_string(), "the response of o is longer than 32 MiB");
        }
        let mut received = Received::default();
        received.bytes(LONGEST_STREAM, "o").unwrap();
        received.bytes(1, "o").unwrap_err();
    }

    #[test]
    fn response_over_the_block_limit_is_an_error() {
        let start = event(json!({
            "type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""},
        }));
        let mut received = Received::default();
        for _ in 0..MOST_BLOCKS {
            received.event(&start, "o").unwrap();
        }
        received.event(&start, "o").unwrap_err();
    }
}
