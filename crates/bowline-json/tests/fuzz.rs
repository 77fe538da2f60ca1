//! The fuzz target `json` as a bounded property test.

#[path = "../../../fuzz/properties/json.rs"]
mod property;

use proptest::prelude::*;

/// Fragments of JSON, valid and invalid, at whose borders readers differ.
const FRAGMENTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    " ",
    "\"",
    "\\",
    "\"a\"",
    "\"\\n\"",
    "\"\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "\"ä€😀\"",
    "\"key\":",
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-",
    "1",
    "01",
    "1.5",
    "1e3",
    "1E+2",
    "1e400",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "2.2250738585072014e-308",
    "\n",
    "\t",
    "\u{7f}",
    "\u{0}",
    "\u{feff}",
    "\"0123456789012345678901234567890123456789012345678901234567890123\"",
];

fn fragments() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(FRAGMENTS), 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn fast_path_agrees_with_serde_json_on_fragments(json in fragments()) {
        property::check(&json);
    }

    #[test]
    fn fast_path_agrees_with_serde_json_on_any_text(json in any::<String>()) {
        property::check(&json);
    }

    #[test]
    fn fast_path_agrees_with_serde_json_on_wrapped_fragments(json in fragments()) {
        property::check(&format!("[{json}]"));
        property::check(&format!("{{\"a\":{json}}}"));
        property::check(&format!("\"{json}\""));
    }
}
