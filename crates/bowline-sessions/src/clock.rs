//! Times as transcripts write them: ISO 8601 with milliseconds, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};

/// The present time as a transcript line has it, as in `2026-01-02T03:04:05.678Z`.
pub fn now() -> String {
    timestamp(OffsetDateTime::now_utc())
}

fn timestamp(time: OffsetDateTime) -> String {
    let format =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    time.format(&format).expect("every part of the format is in every time")
}

/// Milliseconds since the epoch of a line's timestamp.
pub(crate) fn to_millis(timestamp: &str) -> Option<i64> {
    let time = OffsetDateTime::parse(timestamp, &Rfc3339).ok()?;
    i64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok()
}

/// Milliseconds since the epoch of a file's time.
pub(crate) fn system_millis(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_millis()).map_or(i64::MIN, std::ops::Neg::neg)
        }
    }
}

/// Milliseconds since the epoch as a person reads them: the minute, in UTC.
pub(crate) fn from_millis(millis: i64) -> String {
    let format = format_description!("[year]-[month]-[day] [hour]:[minute]");
    let time = OffsetDateTime::from_unix_timestamp(millis.div_euclid(1000)).ok();
    time.and_then(|time| time.format(&format).ok()).unwrap_or_default()
}
