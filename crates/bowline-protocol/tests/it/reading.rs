//! Tags, unknown values, unknown fields, and errors that name their path.

use bowline_protocol::{ContentBlock, Head, Outcome, RawJson, StreamEvent};
use expect_test::{Expect, expect};

/// A value in, what we understood, and the value back out.
macro_rules! check {
    ($type:ty, $json:expr, $expected:expr) => {{
        let text = match <$type>::parse($json) {
            Ok(value) => format!("{value:?}\n{}", serde_json::to_string(&value).unwrap()),
            Err(error) => format!("error: {error}"),
        };
        let expected: Expect = $expected;
        expected.assert_eq(&text);
    }};
}

#[test]
fn a_known_block_keeps_the_fields_it_does_not_know() {
    check!(
        ContentBlock,
        r#"{"text":"hi","type":"text","citations":null,"n":1}"#,
        expect![[r#"
            Text(TextBlock { text: "hi", extra: {"citations": Null, "n": Number(1)} })
            {"type":"text","text":"hi","citations":null,"n":1}"#]]
    );
}

#[test]
fn an_unknown_block_survives_byte_for_byte() {
    check!(
        ContentBlock,
        r#"{"z":1.0,"type":"novel","a":[1,  2]}"#,
        expect![[r#"
            Unknown({"z":1.0,"type":"novel","a":[1,  2]})
            {"z":1.0,"type":"novel","a":[1,  2]}"#]]
    );
}

/// JavaScript cuts texts in the middle of characters, and JSON has a way to write what is left.
#[test]
fn lone_surrogate_is_replaced_in_a_known_block_and_kept_in_an_unknown_one() {
    check!(
        ContentBlock,
        r#"{"type":"tool_use","id":"t","name":"n\ud83d","input":{"cut":"\ud83d\ude00\ud83d"}}"#,
        expect![[r#"
            ToolUse(ToolUseBlock { id: ToolUseId("t"), name: "n�", input: {"cut":"\ud83d\ude00\ufffd"}, extra: {} })
            {"type":"tool_use","id":"t","name":"n�","input":{"cut":"\ud83d\ude00\ufffd"}}"#]]
    );
    check!(
        ContentBlock,
        r#"{"type":"novel","cut":"\ud83d"}"#,
        expect![[r#"
            Unknown({"type":"novel","cut":"\ud83d"})
            {"type":"novel","cut":"\ud83d"}"#]]
    );
    let novel = RawJson::from_text(r#"{"cut":"\ud83d"}"#.to_owned()).unwrap();
    assert_eq!(novel.to_value()["cut"], "\u{fffd}");
}

#[test]
fn a_bad_body_names_tag_and_field() {
    check!(
        ContentBlock,
        r#"{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":7}]}"#,
        expect![
            "error: tool_result: content[0]: text: text: invalid type: integer `7`, expected a string at line 1 column 23"
        ]
    );
    check!(
        StreamEvent,
        r#"{"type":"content_block_stop"}"#,
        expect!["error: content_block_stop: .: missing field `index` at line 1 column 29"]
    );
    check!(
        StreamEvent,
        r#"{"type":7}"#,
        expect![
            "error: not a message: invalid type: integer `7`, expected a string at line 1 column 9"
        ]
    );
    check!(
        StreamEvent,
        r#"[1]"#,
        expect![
            "error: not a message: invalid type: sequence, expected an object at line 1 column 0"
        ]
    );
    check!(
        StreamEvent,
        r#"{"type":"ping"} x"#,
        expect!["error: ping: .: trailing characters at line 1 column 17"]
    );
}

/// A tool result in a tool result and so on, and a text inside the innermost.
fn nested_results(depth: usize, text: &str) -> String {
    let before = r#"{"type":"tool_result","tool_use_id":"t","content":["#;
    format!(r#"{}{{"type":"text","text":{text}}}{}"#, before.repeat(depth), "]}".repeat(depth))
}

#[test]
fn blocks_inside_blocks_are_read_up_to_a_limit() {
    for text in [r#""fine""#, r#""fine"},{"type":"novel""#] {
        let json = nested_results(20, text);
        let block = ContentBlock::parse(&json).unwrap();
        assert_eq!(serde_json::to_string(&block).unwrap(), json);
    }
    let error = ContentBlock::parse(&nested_results(2_000, r#""deep""#)).unwrap_err();
    assert!(error.to_string().contains("too many objects inside one another"), "{error}");
}

/// Each level is explained once: were it twice, this would take minutes.
#[test]
fn deeply_nested_error_is_explained_in_linear_time() {
    let error = ContentBlock::parse(&nested_results(30, "7")).unwrap_err();
    let places = error.to_string().matches("tool_result: content[0]: ").count();
    assert_eq!(places, 30, "{error}");
}

#[test]
fn outcome_is_distinguished_by_its_subtype() {
    check!(
        Outcome,
        r#"{"subtype":"success","request_id":"r","response":{"n":1.00}}"#,
        expect![[r#"
            Success(Success { request_id: RequestId("r"), response: Some({"n":1.00}), pending_permission_requests: None, pending_user_dialog_requests: None, pending_elicitation_requests: None, extra: {} })
            {"subtype":"success","request_id":"r","response":{"n":1.00}}"#]]
    );
}

#[test]
fn head_is_found_at_any_position() {
    let check = |line: &str, expected: Expect| {
        let text = match Head::read(line) {
            Ok(head) => format!(
                "{} {:?} {:?} {:?}",
                head.kind, head.subtype, head.request_id, head.session_id
            ),
            Err(error) => format!("error: {error}"),
        };
        expected.assert_eq(&text);
    };
    check(
        r#" { "a\\": [{"type":"x"}, "}\"", -1.5e3 , null], "type" : "user", "session_id": null } "#,
        expect!["user None None None"],
    );
    check(
        r#"{"request_id":"r\n1","t\u0079pe":"control_request","n":1,"session_id":"s","subtype":"i"}"#,
        expect![[r#"control_request Some("i") Some("r\n1") Some("s")"#]],
    );
    check(
        r#"{"type":7}"#,
        expect![
            "error: not a message: invalid type: integer `7`, expected a string at line 1 column 9"
        ],
    );
    check(r#"{"a":1}"#, expect!["error: not a message: missing field `type` at line 1 column 7"]);
    check(
        r#"{"type":"user","a":[1}"#,
        expect!["error: not a message: expected `,` or `]` at line 1 column 22"],
    );
}
