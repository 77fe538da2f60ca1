//! Durations of a session, those before it was resumed included.

use std::time::{Duration, Instant};

use bowline_sessions::CostState;

use crate::clock::{millis, since_epoch};

/// Durations of a session so far.
#[derive(Debug)]
pub(crate) struct Times {
    /// Time in the API, with failed attempts and the backoff after them.
    pub(crate) api: Duration,
    /// Time in the API without failed attempts.
    pub(crate) api_without_retries: Duration,
    /// Time in tools; concurrent calls are each added.
    pub(crate) tools: Duration,
    /// When it began, in milliseconds since the epoch.
    pub(crate) began: u64,
    /// Wall time before the session was resumed.
    earlier: Duration,
    /// Start of this process's part.
    since: Instant,
}

/// The API time of a response.
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

    /// Adds the API time of a response.
    pub(crate) fn enter_api(&mut self, took: ApiTime) {
        self.api += took.all;
        self.api_without_retries += took.last_attempt;
    }

    /// Wall time while the session was open, idle or not.
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
