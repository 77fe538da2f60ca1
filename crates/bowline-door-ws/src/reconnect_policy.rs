//! Reconnect policy: number of attempts, backoff, and what counts as progress.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use bowline_websocket::KeepAlive;

/// How many stable connections in a row may make no progress, for each allowed attempt. An idle host
/// whose proxy ends connections after a while is kept for long; one that only ever accepts and
/// drops connections is not dialed forever.
pub const IDLE_CONNECTIONS_PER_ATTEMPT: u32 = 10;

/// Number of reconnect attempts and the backoff between them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReconnectPolicy {
    /// The number of attempts before the host counts as lost. Progress on a connection resets the
    /// count; a stable connection without progress does so too, but only
    /// [`IDLE_CONNECTIONS_PER_ATTEMPT`] times in a row for each attempt.
    pub attempts: u32,
    /// The backoff before the first attempt, doubled for each further one …
    pub first_wait: Duration,
    /// … up to this.
    pub longest_wait: Duration,
    /// How long bytes must arrive for a connection to be stable.
    pub stable_after: Duration,
    /// How a connection is kept alive.
    pub keep_alive: KeepAlive,
}

impl Default for ReconnectPolicy {
    fn default() -> Self {
        Self {
            attempts: 3,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(30),
            stable_after: Duration::from_secs(10),
            keep_alive: KeepAlive::default(),
        }
    }
}

impl ReconnectPolicy {
    /// The backoff before an attempt, the first of which is 0. With a jitter of a fifth, so that many
    /// agents that lose one host do not all reconnect at the same moment.
    pub(crate) fn wait(&self, attempt: u32) -> Duration {
        let wait = self.first_wait.saturating_mul(2_u32.saturating_pow(attempt));
        let chance = RandomState::new().hash_one(attempt) % 1000;
        #[expect(clippy::cast_precision_loss, reason = "a number below a thousand")]
        let factor = 0.8 + 0.4 * chance as f64 / 1000.0;
        wait.min(self.longest_wait).mul_f64(factor)
    }
}

/// Attempts since the last progress.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    /// Dials in a row without a stable connection.
    attempts: u32,
    /// Stable connections in a row without progress.
    idle: u32,
}

/// What a connection achieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionQuality {
    /// New lines got through.
    Productive,
    /// No new lines, but it was stable.
    Stable,
    /// Neither.
    Unstable,
}

impl Attempts {
    /// Records the end of a connection.
    pub(crate) fn connection_ended(&mut self, quality: ConnectionQuality) {
        match quality {
            ConnectionQuality::Productive => *self = Self::default(),
            ConnectionQuality::Stable => *self = Self { attempts: 0, idle: self.idle + 1 },
            ConnectionQuality::Unstable => {}
        }
    }

    /// The backoff before the next attempt; `None` if no attempts are left.
    pub(crate) fn next_wait(&mut self, policy: &ReconnectPolicy) -> Option<Duration> {
        let most = policy.attempts.saturating_mul(IDLE_CONNECTIONS_PER_ATTEMPT);
        if self.attempts >= policy.attempts || self.idle > most {
            return None;
        }
        let wait = policy.wait(self.attempts);
        self.attempts += 1;
        Some(wait)
    }

    /// The number of attempts since the last progress or stable connection.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts.max(self.idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many attempts follow if all connections are of the same quality.
    fn attempts_with(attempts: u32, quality: ConnectionQuality) -> usize {
        let policy = ReconnectPolicy { attempts, ..ReconnectPolicy::default() };
        let mut attempts_made = Attempts::default();
        let waits = std::iter::from_fn(|| {
            attempts_made.connection_ended(quality);
            attempts_made.next_wait(&policy)
        });
        waits.take(1000).count()
    }

    #[test]
    fn only_progress_resets_attempts_without_limit() {
        assert_eq!(attempts_with(3, ConnectionQuality::Unstable), 3);
        assert_eq!(attempts_with(3, ConnectionQuality::Stable), 30);
        assert_eq!(attempts_with(3, ConnectionQuality::Productive), 1000);
        assert_eq!(attempts_with(0, ConnectionQuality::Productive), 0);
        assert_eq!(attempts_with(u32::MAX, ConnectionQuality::Stable), 1000);
    }

    #[test]
    fn stable_connection_resets_dials_but_not_idle_connections() {
        let policy = ReconnectPolicy::default();
        let mut attempts_made = Attempts::default();
        for _ in 0..30 {
            attempts_made.connection_ended(ConnectionQuality::Stable);
            assert!(attempts_made.next_wait(&policy).is_some());
            attempts_made.connection_ended(ConnectionQuality::Unstable);
            assert!(attempts_made.next_wait(&policy).is_some());
        }
        attempts_made.connection_ended(ConnectionQuality::Stable);
        assert_eq!((attempts_made.next_wait(&policy), attempts_made.attempts()), (None, 31));
    }

    #[test]
    fn backoff_doubles_up_to_a_limit_with_jitter() {
        let policy = ReconnectPolicy::default();
        for (attempt, seconds) in [(0, 1.0), (1, 2.0), (2, 4.0), (4, 16.0), (5, 30.0), (99, 30.0)] {
            let waits: Vec<_> = (0..50).map(|_| policy.wait(attempt).as_secs_f64()).collect();
            let fits = |wait: &f64| (0.8 * seconds..=1.2 * seconds).contains(wait);
            assert!(waits.iter().all(fits), "{attempt}: {waits:?}");
            assert!(waits.iter().any(|wait| *wait != waits[0]), "{attempt}: no chance in it");
        }
    }
}
