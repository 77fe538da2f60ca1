use proptest::prelude::*;
use serde_json::{Value, value::RawValue};

use super::*;

fn quick<'de, T: Deserialize<'de>>(json: &'de str) -> Option<T> {
    read_with(json, |reader| T::deserialize(reader))
}

/// Reads both ways and says whether it was usual. Where it was, both have read the same.
fn agrees(json: &str) -> bool {
    let quickly = quick::<Value>(json);
    let is_usual = quickly.is_some();
    if is_usual {
        assert_eq!(quickly, serde_json::from_str(json).ok(), "{json}");
    }
    let raw = quick::<Box<RawValue>>(json);
    assert_eq!(raw.is_some(), is_usual, "{json}");
    if let Some(raw) = raw {
        assert_eq!(raw.get(), json.trim_ascii(), "{json}");
    }
    is_usual
}

#[test]
fn the_usual_is_read() {
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
fn what_is_unusual_or_wrong_is_left_to_others() {
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

/// Ends and escapes at every distance from the beginning: within a word, at its edges, far behind.
#[test]
fn strings_of_every_length_are_read() {
    // Those of a kilobyte do not fit where strings are gathered at first.
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
                // Without its end it is none.
                assert!(!agrees(&json[..json.len() - 1]), "{json}");
            }
        }
    }
}

#[test]
fn what_is_deep_inside_is_left_to_others() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(agrees(&nested(DEPTH_LIMIT)));
    assert!(!agrees(&nested(DEPTH_LIMIT + 1)));
    assert!(serde_json::from_str::<Value>(&nested(DEPTH_LIMIT + 1)).is_err());
}

#[test]
fn lines_of_agents_are_usual() {
    let lines = include_str!("../../../tests/fixtures/agent.ndjson").lines();
    assert!(lines.map(agrees).filter(|is_usual| *is_usual).count() > 30);
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
    fn any_value_that_was_written_is_read(value in any_json()) {
        let json = value.to_string();
        // Floats are read more exactly here than there.
        prop_assert_eq!(quick::<Value>(&json).map(|it| it.to_string()), Some(json));
    }

    /// Damage at any place is noticed wherever `serde_json` notices it.
    #[test]
    fn a_text_with_a_mistake_reads_the_same_or_not_at_all(
        value in any_json(), at in any::<prop::sample::Index>(), byte in 0_u8..128,
    ) {
        let mut json = value.to_string().into_bytes();
        let at = at.index(json.len());
        json[at] = byte;
        if let Ok(json) = String::from_utf8(json)
            && let Some(read) = quick::<Value>(&json)
        {
            let again: Value = serde_json::from_str(&json).expect("what is read here is JSON");
            prop_assert_eq!(read.to_string().len(), again.to_string().len());
        }
    }
}
