//! Durations of a session, those before it was resumed included.

use std::time::{Duration, Instant};

use bowline_sessions::CostState;

use crate::clock::{millis, since_epoch};

/// How long a session has taken so far, and with what.
#[derive(Debug)]
pub(crate) struct Times {
    /// The API, with failed attempts and the backoff after them.
    pub(crate) api: Duration,
    /// The attempts that did not fail.
    pub(crate) api_without_retries: Duration,
    /// Tools; those that ran side by side count each.
    pub(crate) tools: Duration,
    /// When it began, in milliseconds since the epoch.
    pub(crate) began: u64,
    /// Its earlier lives.
    earlier: Duration,
    /// The beginning of this one.
    since: Instant,
}

/// How long the API has been at work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApiTime {
    /// With failed attempts and the backoff after them.
    pub(crate) all: Duration,
    /// The newest attempt alone.
    pub(crate) last_attempt: Duration,
}

impl Times {
    /// Continues the times of a session that is resumed.
    pub(crate) fn restored(cost: &CostState) -> Self {
        let now = Self::default();
        Self {
            api: Duration::from_millis(cost.total_api_duration),
            api_without_retries: Duration::from_millis(cost.total_api_duration_without_retries),
            tools: Duration::from_millis(cost.total_tool_duration),
            began: Some(cost.start_time).filter(|began| *began > 0).unwrap_or(now.began),
            earlier: Duration::from_millis(cost.total_duration),
            ..now
        }
    }

    /// Adds what the API took for an answer.
    pub(crate) fn enter_api(&mut self, took: ApiTime) {
        self.api += took.all;
        self.api_without_retries += took.last_attempt;
    }

    /// All of it, work or not, without the pauses between its lives.
    pub(crate) fn wall(&self) -> Duration {
        self.earlier + self.since.elapsed()
    }
}

impl Default for Times {
    fn default() -> Self {
        Self {
            api: Duration::ZERO,
            api_without_retries: Duration::ZERO,
            tools: Duration::ZERO,
            began: millis(since_epoch()),
            earlier: Duration::ZERO,
            since: Instant::now(),
        }
    }
}
