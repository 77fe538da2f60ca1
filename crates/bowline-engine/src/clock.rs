//! Times as the wire writes them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time now, as the wire writes it.
pub(crate) use bowline_sessions::now as timestamp;

/// A duration in whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The time since the Unix epoch.
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
