//! Attempt counters by script position, for failures that pass after a retry.

use std::collections::HashMap;

use parking_lot::Mutex;

/// Attempts by position.
#[derive(Debug, Default)]
pub(super) struct Attempts(Mutex<HashMap<u64, u32>>);

impl Attempts {
    /// A server may run for days; a position is retried within seconds or never.
    const MOST_POSITIONS: usize = 10_000;

    /// Adds an attempt and returns how many there were before.
    pub(super) fn count(&self, position: u64) -> u32 {
        let mut positions = self.0.lock();
        if positions.len() >= Self::MOST_POSITIONS {
            positions.clear();
        }
        let count = positions.entry(position).or_default();
        *count += 1;
        *count - 1
    }
}
