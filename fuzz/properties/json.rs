//! Differential property of the JSON fast path: what it accepts, `serde_json` reads as the same value.

use bowline_json::try_from_str;
use serde_json::{Value, value::RawValue};

/// Compares the two readers on one text.
pub(crate) fn check(json: &str) {
    let fast = try_from_str::<Value>(json);
    if let Some(fast) = &fast {
        let expected: Value = serde_json::from_str(json)
            .unwrap_or_else(|error| panic!("only the fast path accepts {json:?}: {error}"));
        assert_eq!(*fast, expected, "{json:?}");
    }
    let raw = try_from_str::<Box<RawValue>>(json);
    assert_eq!(raw.is_some(), fast.is_some(), "{json:?}");
    if let Some(raw) = raw {
        assert_eq!(raw.get(), json.trim_matches(' '), "{json:?}");
    }
}
