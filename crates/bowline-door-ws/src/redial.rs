//! How often, and after what time, to dial again.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use bowline_websocket::KeepAlive;

/// How often, and after what time, to dial again.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Redial {
    /// How often to dial before the host is given up. What got through on a connection, and a
    /// connection that lasted, are a new beginning.
    pub attempts: u32,
    /// The wait before the first attempt; each wait is twice as long as the one before …
    pub first_wait: Duration,
    /// … but no longer than this.
    pub longest_wait: Duration,
    /// How long the host must give signs of life for a connection to have lasted.
    pub lasting: Duration,
    /// How a connection is kept alive.
    pub keep_alive: KeepAlive,
}

impl Default for Redial {
    fn default() -> Self {
        Self {
            attempts: 3,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(30),
            lasting: Duration::from_secs(10),
            keep_alive: KeepAlive::default(),
        }
    }
}

impl Redial {
    /// The wait before an attempt, the first of which is 0. Up to a fifth more or less, so that
    /// many agents that lose one host do not all come back at the same moment.
    pub(crate) fn wait(&self, attempt: u32) -> Duration {
        let wait = self.first_wait.saturating_mul(2_u32.saturating_pow(attempt));
        let chance = RandomState::new().hash_one(attempt) % 1000;
        #[expect(clippy::cast_precision_loss, reason = "a number below a thousand")]
        let factor = 0.8 + 0.4 * chance as f64 / 1000.0;
        wait.min(self.longest_wait).mul_f64(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit_and_differ() {
        let redial = Redial::default();
        for (attempt, seconds) in [(0, 1.0), (1, 2.0), (2, 4.0), (4, 16.0), (5, 30.0), (99, 30.0)] {
            let waits: Vec<_> = (0..50).map(|_| redial.wait(attempt).as_secs_f64()).collect();
            let fits = |wait: &f64| (0.8 * seconds..=1.2 * seconds).contains(wait);
            assert!(waits.iter().all(fits), "{attempt}: {waits:?}");
            assert!(waits.iter().any(|wait| *wait != waits[0]), "{attempt}: no chance in it");
        }
    }
}
