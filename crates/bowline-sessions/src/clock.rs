//! Times as transcripts write them: ISO 8601 with milliseconds, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};

/// The present time as a transcript line has it, as in `2026-01-02T03:04:05.678Z`.
pub fn now() -> String {
    timestamp(OffsetDateTime::now_utc())
}

/// By hand, because every message and every line has one, and a formatter for any format at all takes
/// some times as long.
fn timestamp(time: OffsetDateTime) -> String {
    let parts = [
        (time.year().unsigned_abs(), 4, '-'),
        (u8::from(time.month()).into(), 2, '-'),
        (time.day().into(), 2, 'T'),
        (time.hour().into(), 2, ':'),
        (time.minute().into(), 2, ':'),
        (time.second().into(), 2, '.'),
        (time.millisecond().into(), 3, 'Z'),
    ];
    let mut text = String::with_capacity("2026-01-02T03:04:05.678Z".len());
    for (number, digits, separator) in parts {
        for power in (0..digits).rev() {
            let digit = number / 10_u32.pow(power) % 10;
            text.push(char::from_digit(digit, 10).unwrap_or_default());
        }
        text.push(separator);
    }
    text
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

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_timestamp_has_all_its_digits() {
        for (time, written) in [
            (datetime!(2026-01-02 03:04:05.678_9 UTC), "2026-01-02T03:04:05.678Z"),
            (datetime!(1999-12-31 23:59:59 UTC), "1999-12-31T23:59:59.000Z"),
            (datetime!(0987-10-20 00:00:00.007 UTC), "0987-10-20T00:00:00.007Z"),
        ] {
            assert_eq!(timestamp(time), written);
            let millis = time.unix_timestamp_nanos().div_euclid(1_000_000);
            assert_eq!(to_millis(written).map(i128::from), Some(millis));
        }
    }
}
