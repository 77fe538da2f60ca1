//! Retry policy: exponential backoff with jitter, and rate limits of the server. Pure, so that it is tested as a table.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use crate::ModelError;

/// When failed requests are retried.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryPolicy {
    /// Retries before the error is final.
    pub max_retries: u32,
    /// Backoff before the first retry; it doubles each time.
    pub first_delay: Duration,
    /// Upper bound of the backoff.
    pub longest_delay: Duration,
    /// Longest wait that a server may request (`retry-after`); more is a failure.
    pub patience: Duration,
    /// Seed of the jitter. Equal seeds give equal delays.
    pub seed: u64,
}

impl RetryPolicy {
    /// Up to this share of a delay is added to it, so that clients that failed
    /// together do not come back together.
    const JITTER: f64 = 0.25;

    /// Delay before the retry of a failed request; `None` to give up.
    ///
    /// `attempt` is 1 for the first retry. A wait the server requests is kept
    /// to the millisecond.
    pub fn delay(&self, attempt: u32, error: &ModelError) -> Option<Duration> {
        if attempt == 0 || attempt > self.max_retries || !error.is_retryable() {
            return None;
        }
        match error.retry_after {
            Some(wait) if wait > self.patience => None,
            Some(wait) if !wait.is_zero() => Some(wait),
            _ => {
                let doubled = 2_u32.saturating_pow(attempt - 1);
                let delay = self.first_delay.saturating_mul(doubled).min(self.longest_delay);
                Some(delay.mul_f64(1.0 + Self::JITTER * self.draw(attempt)))
            }
        }
    }

    /// A number from 0 to 1 that only the seed and the attempt decide (SplitMix64).
    fn draw(&self, attempt: u32) -> f64 {
        let mut bits =
            self.seed.wrapping_add(u64::from(attempt).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Default for RetryPolicy {
    /// Ten retries from half a second on, with a random seed.
    fn default() -> Self {
        Self {
            max_retries: 10,
            first_delay: Duration::from_millis(500),
            longest_delay: Duration::from_secs(32),
            patience: Duration::from_secs(60 * 60),
            seed: RandomState::new().hash_one(()),
        }
    }
}
