//! How often the same place has been asked, for failures that pass.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Counts attempts by place.
#[derive(Debug, Default)]
pub(super) struct Attempts(Mutex<HashMap<u64, u32>>);

impl Attempts {
    /// A server may run for days; a place is asked again within seconds or never.
    const MOST_PLACES: usize = 10_000;

    /// Counts one more attempt and says how many there were before.
    pub(super) fn count(&self, place: u64) -> u32 {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= Self::MOST_PLACES {
            places.clear();
        }
        let count = places.entry(place).or_default();
        *count += 1;
        *count - 1
    }
}
