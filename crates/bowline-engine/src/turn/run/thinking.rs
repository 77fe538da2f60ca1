//! Estimate of thinking tokens, from the stream.

use tokio::time::Instant;

use crate::clock::millis;

/// Size and start time of the open thinking block.
#[derive(Default)]
pub(super) struct ThinkingMeter {
    chars: u64,
    since: Option<Instant>,
}

impl ThinkingMeter {
    /// Roughly four characters make a token.
    const CHARS_PER_TOKEN: u64 = 4;

    /// The estimate so far, and by how much it grew.
    pub(super) fn add(&mut self, text: &str) -> (u64, i64) {
        self.since.get_or_insert_with(Instant::now);
        let before = self.chars.div_ceil(Self::CHARS_PER_TOKEN);
        self.chars += text.chars().count() as u64;
        let after = self.chars.div_ceil(Self::CHARS_PER_TOKEN);
        (after, i64::try_from(after - before).unwrap_or(i64::MAX))
    }

    /// Ends the block and returns its duration in milliseconds.
    pub(super) fn end(&mut self) -> Option<u64> {
        let since = std::mem::take(self).since?;
        Some(millis(since.elapsed()))
    }
}
