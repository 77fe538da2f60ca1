//! What was heard lately, so that what comes twice is taken once.

use std::{
    collections::{HashSet, VecDeque},
    hash::{BuildHasher, RandomState},
};

/// Lines that are remembered: more than the other end can say again.
const REMEMBERED: usize = 4 * crate::memory::LINES;

/// Lines heard lately. They are told apart by all they say, since what is said again is said in
/// the same words.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    hasher: RandomState,
    known: HashSet<u64>,
    /// The oldest first.
    order: VecDeque<u64>,
}

impl Seen {
    /// Remembers a line. `false` if it was heard before.
    pub(crate) fn is_new(&mut self, line: &str) -> bool {
        let hash = self.hasher.hash_one(line);
        if !self.known.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_new_once_and_forgotten_at_last() {
        let mut seen = Seen::default();
        assert!(seen.is_new("a") && seen.is_new("b"));
        assert!(!seen.is_new("a"));
        for number in 0..REMEMBERED {
            assert!(seen.is_new(&number.to_string()));
        }
        assert!(seen.is_new("a"), "the memory is bounded");
        assert_eq!((seen.known.len(), seen.order.len()), (REMEMBERED, REMEMBERED));
    }
}
