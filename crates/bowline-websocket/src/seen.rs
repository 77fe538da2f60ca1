//! What was heard lately, so that what comes twice is taken once.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
};

/// Lines that are remembered: more than the other end can say again.
const REMEMBERED: usize = 4 * crate::memory::LINES;

/// Lines heard lately. They are told apart by all they say, since what is said again is said in
/// the same words.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    hasher: RandomState,
    /// On which connection each was heard last.
    known: HashMap<u64, u64>,
    /// The oldest first.
    order: VecDeque<u64>,
}

impl Seen {
    /// Remembers a line; on which connection it was heard before, if it was.
    pub(crate) fn note(&mut self, line: &str, connection: u64) -> Option<u64> {
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
    fn a_line_is_new_once_and_forgotten_at_last() {
        let mut seen = Seen::default();
        assert_eq!((seen.note("a", 1), seen.note("b", 1)), (None, None));
        assert_eq!((seen.note("a", 2), seen.note("a", 2)), (Some(1), Some(2)));
        for number in 0..REMEMBERED {
            assert_eq!(seen.note(&number.to_string(), 2), None);
        }
        assert_eq!(seen.note("a", 2), None, "the memory is bounded");
        assert_eq!((seen.known.len(), seen.order.len()), (REMEMBERED, REMEMBERED));
    }
}
