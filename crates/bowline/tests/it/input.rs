//! Lines that are odd, and lines that end the session.

use serde_json::json;

use crate::test_home::TestHome;

#[test]
fn invalid_lines_end_the_session() {
    let cases = [
        (
            "{this is not json".to_owned(),
            "Error parsing streaming input line (type=unknown, 17 chars): SyntaxError\n",
        ),
        (
            json!({"type": "user", "message": {"role": "assistant", "content": "x"}}).to_string(),
            "Error: Expected message role 'user', got 'assistant'\n",
        ),
        (json!({"type": "user"}).to_string(), {
            "Error: Expected message role 'user', got 'undefined'\n"
        }),
        (json!({"type": "control_request", "request_id": "x"}).to_string(), {
            "Error: Missing request on control_request\n"
        }),
    ];
    for (line, expected) in cases {
        let mut host = TestHome::new().open(&[]);
        host.prompt("SAY one");
        host.await_kind("result");
        host.send(&line);
        host.prompt("SAY never");
        let ran = host.end();
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), expected), "{line}");
        assert_eq!(ran.stdout, "", "{line}");
    }
}

#[test]
fn others_are_passed_over() {
    let mut host = TestHome::new().open(&[]);
    let lines = [
        "",
        "   ",
        "[1,2]",
        "7",
        "{}",
        r#"{"type":"no_such_type"}"#,
        r#"{"type":"keep_alive"}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":[]}}"#,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"nobody"}}"#,
        r#"{"type":"control_response"}"#,
        r#"{"type":"control_cancel_request","request_id":"nobody"}"#,
    ];
    for line in lines {
        host.send(line);
    }
    host.prompt("SAY unimpressed");
    assert_eq!(host.await_kind("result")["result"], "unimpressed");
    host.close_input();
    let ran = host.end();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn request_without_id_is_answered_without_id() {
    let mut host = TestHome::new().open(&[]);
    host.send(json!({"type": "control_request", "request": {"subtype": "no_such_thing"}}));
    host.close_input();
    let lines = host.end().lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["response"].get("request_id"), None);
    assert_eq!(lines[0]["response"]["subtype"], "error");
}

#[test]
fn a_line_of_many_megabytes_is_a_line() {
    let mut host = TestHome::new().open(&["--no-session-persistence"]);
    host.prompt(&format!("SAY short\n{}", "x".repeat(8 << 20)));
    let result = host.await_kind("result");
    assert_eq!(result["is_error"], false);
    host.close_input();
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn the_last_line_needs_no_end() {
    let mut host = TestHome::new().open(&[]);
    host.say_raw(br#"{"type":"user","message":{"role":"user","content":"SAY unfinished"}}"#);
    host.close_input();
    let ran = host.end();
    assert_eq!(ran.lines().last().unwrap()["result"], "unfinished");
}

#[test]
fn lone_surrogate_in_a_prompt_is_replaced() {
    let mut host = TestHome::new().open(&[]);
    let line = br#"{"type":"user","message":{"role":"user","content":"SAY cut \ud83d"}}"#;
    host.say_raw(line);
    host.close_input();
    let ran = host.end();
    assert_eq!(ran.lines().last().unwrap()["result"], "cut \u{fffd}");
}

#[test]
fn initialize_may_have_to_come_first() {
    let mut host = TestHome::new().open(&["--await-initialize"]);
    host.prompt("SAY too early");
    let ran = host.end();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("initialize"), "{}", ran.stderr);

    let mut host = TestHome::new().open(&["--await-initialize"]);
    host.ask("i", json!({"subtype": "initialize", "hooks": null}));
    host.prompt("SAY in time");
    assert_eq!(host.await_kind("result")["result"], "in time");
    host.close_input();
    assert_eq!(host.end().code, Some(0));
}
