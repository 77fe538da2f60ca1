//! How often, and after what time, to dial again.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use bowline_websocket::KeepAlive;

/// How many connections may last and carry nothing new, for each attempt that is allowed. A host
/// with nothing to say behind a proxy that ends connections after a while is kept for long; one
/// that only ever accepts and drops is not dialed for ever.
pub const FRUITLESS: u32 = 10;

/// How often, and after what time, to dial again.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Redial {
    /// How often to dial before the host is given up. What got through on a connection is a new
    /// beginning; a connection that lasted is one, too, but only [`FRUITLESS`] times in a row for
    /// each attempt if nothing gets through.
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

/// How often the host was dialed in vain.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    /// Dials in a row without a connection that lasted.
    attempts: u32,
    /// Connections in a row that carried nothing new.
    fruitless: u32,
}

/// What a connection was good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    /// Something new got through.
    Fruitful,
    /// Nothing did, but the host was there for a while.
    Lasting,
    /// Nothing.
    Nothing,
}

impl Tries {
    /// A connection is over.
    pub(crate) fn lost(&mut self, worth: Worth) {
        match worth {
            Worth::Fruitful => *self = Self::default(),
            Worth::Lasting => *self = Self { attempts: 0, fruitless: self.fruitless + 1 },
            Worth::Nothing => {}
        }
    }

    /// How long to wait before the host is dialed again; `None` if it is given up.
    pub(crate) fn again(&mut self, redial: &Redial) -> Option<Duration> {
        let most = redial.attempts.saturating_mul(FRUITLESS);
        if self.attempts >= redial.attempts || self.fruitless > most {
            return None;
        }
        let wait = redial.wait(self.attempts);
        self.attempts += 1;
        Some(wait)
    }

    /// How often the host was dialed since anything got through, or it last was there for a while.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts.max(self.fruitless)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a host is dialed again whose connections are all worth as much.
    fn redials(attempts: u32, worth: Worth) -> usize {
        let redial = Redial { attempts, ..Redial::default() };
        let mut tries = Tries::default();
        let again = std::iter::from_fn(|| {
            tries.lost(worth);
            tries.again(&redial)
        });
        again.take(1000).count()
    }

    #[test]
    fn only_what_gets_through_counts_for_ever() {
        assert_eq!(redials(3, Worth::Nothing), 3);
        assert_eq!(redials(3, Worth::Lasting), 30);
        assert_eq!(redials(3, Worth::Fruitful), 1000);
        assert_eq!(redials(0, Worth::Fruitful), 0);
        assert_eq!(redials(u32::MAX, Worth::Lasting), 1000);
    }

    #[test]
    fn a_connection_that_lasted_forgives_dials_and_not_other_connections() {
        let redial = Redial::default();
        let mut tries = Tries::default();
        for _ in 0..30 {
            tries.lost(Worth::Lasting);
            assert!(tries.again(&redial).is_some());
            tries.lost(Worth::Nothing);
            assert!(tries.again(&redial).is_some());
        }
        tries.lost(Worth::Lasting);
        assert_eq!((tries.again(&redial), tries.attempts()), (None, 31));
    }

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
