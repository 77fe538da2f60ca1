//! Comparison with `serde_json`.

use proptest::prelude::*;
use serde_json::{Value, value::RawValue};

use super::*;

/// Reads with both and returns whether the fast path accepted the text. If so, both values are equal.
fn agrees(json: &str) -> bool {
    let fast = try_from_str::<Value>(json);
    let is_accepted = fast.is_some();
    if is_accepted {
        assert_eq!(fast, serde_json::from_str(json).ok(), "{json}");
    }
    let raw = try_from_str::<Box<RawValue>>(json);
    assert_eq!(raw.is_some(), is_accepted, "{json}");
    if let Some(raw) = raw {
        assert_eq!(raw.get(), json.trim_ascii(), "{json}");
    }
    is_accepted
}

#[test]
fn valid_json_is_accepted() {
    for json in [
        r#"{}"#,
        r#" { "a" : [ 1 , -2 , 3.5 , 1e3 , -0 , 0 ] , "b" : null } "#,
        r#"[true,false,null,"",[],{}]"#,
        r#""plain""#,
        r#""a\"b\\c\/d\b\f\n\r\te""#,
        r#""\u0041\u00e9\u20ac\ud83d\ude00""#,
        r#"["\n","\u20ac","a\n","\nb","\n\n","\ud83d\ude00\ud83d\ude00"]"#,
        r#"["longer \n first","short\t","longer again \" than \" that"]"#,
        "\"größer \\n € \\u20ac 😀 \\\\ ünd weiter, über die nächsten acht Bytes \\\" hinaus\"",
        r#""eight by\"te""#,
        r#""long enough that the end is far from the beginning, and then \n an escape, and at last the end""#,
        "\"größer € 😀\"",
        r#"{"key \u0041":"value"}"#,
        "18446744073709551615",
        "-9223372036854775808",
        "2.2250738585072014e-308",
    ] {
        assert!(agrees(json), "{json}");
    }
}

#[test]
fn invalid_and_rare_json_is_left_to_the_fallback() {
    for json in [
        "",
        " ",
        "{\n}",
        "\"\t\"",
        "18446744073709551616",
        "-9223372036854775809",
        "1e400",
        "01",
        "-",
        "-a",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "NaN",
        "nul",
        "truely",
        "1 2",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1",
        "[1}",
        r#"{"a":1,}"#,
        r#"{"a" 1}"#,
        r#"{"a"}"#,
        r#"{a:1}"#,
        r#"{"a":1"#,
        r#"""#,
        r#""\""#,
        r#""\"#,
        r#""\x""#,
        r#""\u12""#,
        r#""\u12g4""#,
        r#""\u+123""#,
        r#""\ud800""#,
        r#""\ud800\u0041""#,
        r#""\udc00\ud800""#,
        r#""\ud83d€€€""#,
    ] {
        assert!(!agrees(json), "{json}");
    }
}

/// Ends and escapes at every distance from the start: within a block, at its edges, several blocks later.
#[test]
fn strings_of_every_length_are_accepted() {
    // Those of a kilobyte exceed the first capacity.
    for length in (0..200).chain(500..660).chain(1010..1040) {
        let (plain, umlauts) = ("a".repeat(length), "ä".repeat(length));
        for text in [&plain, &umlauts] {
            for json in [
                format!(r#""{text}""#),
                format!(r#""{text}\n""#),
                format!(r#""\n{text}""#),
                format!(r#""{text}\"{text}\ud83d\ude00{text}""#),
                format!(r#"{{"{text}\\":"{text}"}}"#),
                format!(r#"["{text}","short",{{"\n":"b"}},"{text}"]"#),
            ] {
                assert!(agrees(&json), "{json}");
                // Without its last byte it is not JSON.
                assert!(!agrees(&json[..json.len() - 1]), "{json}");
            }
        }
    }
}

#[test]
fn nesting_over_the_limit_is_left_to_the_fallback() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(agrees(&nested(DEPTH_LIMIT)));
    assert!(!agrees(&nested(DEPTH_LIMIT + 1)));
    assert!(serde_json::from_str::<Value>(&nested(DEPTH_LIMIT + 1)).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..6)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn written_values_are_accepted_and_round_trip(value in any_json()) {
        let json = value.to_string();
        // Compared as text: floats are parsed more exactly here than by `serde_json` without `float_roundtrip`.
        prop_assert_eq!(try_from_str::<Value>(&json).map(|it| it.to_string()), Some(json));
    }

    /// A damaged byte is an error here wherever it is one for `serde_json`.
    #[test]
    fn damaged_text_reads_as_serde_json_reads_it_or_not_at_all(
        value in any_json(), at in any::<prop::sample::Index>(), byte in 0_u8..128,
    ) {
        let mut json = value.to_string().into_bytes();
        let at = at.index(json.len());
        json[at] = byte;
        if let Ok(json) = String::from_utf8(json)
            && let Some(read) = try_from_str::<Value>(&json)
        {
            let again: Value = serde_json::from_str(&json).expect("accepted text is JSON");
            prop_assert_eq!(read.to_string().len(), again.to_string().len());
        }
    }
}
