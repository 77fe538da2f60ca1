//! Bounded filter of recently received lines, for deduplication.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
};

/// Lines that are remembered: more than the other end can replay.
const REMEMBERED: usize = 4 * crate::replay_buffer::LINES;

/// Recently received lines. They are compared by their whole text, since replays are verbatim and
/// some agents use one uuid twice.
#[derive(Debug, Default)]
pub(crate) struct DuplicateFilter {
    hasher: RandomState,
    /// On which connection each was received last.
    known: HashMap<u64, u64>,
    /// The oldest first.
    order: VecDeque<u64>,
}

impl DuplicateFilter {
    /// Records a line; returns the connection on which it was received before, if it was.
    pub(crate) fn record(&mut self, line: &str, connection: u64) -> Option<u64> {
        let hash = self.hasher.hash_one(line);
        let before = self.known.insert(hash, connection);
        if before.is_none() {
            self.order.push_back(hash);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_new_once_and_evicted_beyond_the_limit() {
        let mut seen = DuplicateFilter::default();
        assert_eq!((seen.record("a", 1), seen.record("b", 1)), (None, None));
        assert_eq!((seen.record("a", 2), seen.record("a", 2)), (Some(1), Some(2)));
        for number in 0..REMEMBERED {
            assert_eq!(seen.record(&number.to_string(), 2), None);
        }
        assert_eq!(seen.record("a", 2), None, "the filter is bounded");
        assert_eq!((seen.known.len(), seen.order.len()), (REMEMBERED, REMEMBERED));
    }
}
