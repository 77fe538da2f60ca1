//! Requests of the other end: exactly one response each, whatever becomes of the handler.

use bowline_peer::Options;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::rig::{Note, bytes, error, options, rig};

#[tokio::test]
async fn success_refusal_and_panic_are_responses() {
    let (_near, mut far) = rig(Options::default());
    far.send_request("a", "echo").await;
    far.send_request("b", "refuse").await;
    far.send_request("c", "panic").await;
    let responses = far.responses(3).await;
    assert_eq!(
        responses["a"],
        json!({"subtype": "success", "request_id": "a", "response": {"subtype": "echo"}})
    );
    assert_eq!(
        responses["b"],
        json!({"subtype": "error", "request_id": "b", "error": "no", "error_code": "not_today"})
    );
    assert_eq!(responses["c"], error("c", "the handler of this request panicked"));
}

#[tokio::test]
async fn hanging_handler_delays_no_other_request() {
    let (_near, mut far) = rig(Options::default());
    far.send_request("a", "hang").await;
    far.send_request("b", "echo").await;
    assert!(far.responses(1).await.contains_key("b"));
}

#[tokio::test]
async fn cancelled_request_gets_no_response() {
    let (mut near, mut far) = rig(Options::default());
    far.send_request("a", "hang").await;
    far.send(json!({"type": "control_cancel_request", "request_id": "a"})).await;
    assert_eq!(near.notes.recv().await, Some(Note::Cancelled("a".to_owned())));
    // Unknown ids are ignored.
    far.send(json!({"type": "control_cancel_request", "request_id": "z"})).await;
    // Once cancelled, the id is free.
    far.send_request("a", "echo").await;
    let responses = far.responses(1).await;
    assert_eq!(responses["a"]["response"], json!({"subtype": "echo"}));
}

#[tokio::test]
async fn duplicate_request_in_flight_gets_one_response() {
    let (_near, mut far) = rig(Options::default());
    far.send_request("a", "hang").await;
    far.send_request("a", "echo").await;
    far.send_request("b", "echo").await;
    assert!(far.responses(1).await.contains_key("b"), "the second `a` was ignored");
}

#[tokio::test]
async fn malformed_request_is_refused_and_reported() {
    let (mut near, mut far) = rig(Options::default());
    far.send(json!({"type": "control_request", "request_id": "a"})).await;
    let responses = far.responses(1).await;
    let expected = "malformed request: missing field `request` at line 1 column 43";
    assert_eq!(responses["a"], error("a", expected));
    let note = near.notes.recv().await.unwrap();
    assert!(
        matches!(&note, Note::Fault(fault) if fault.starts_with("line 1: bad control")),
        "{note:?}"
    );

    for line in [
        r#"{"type":"control_request","request":{}}"#,
        r#"{"type":"control_request","request_id":"a","#,
        r#"{"type":"control_response","response":7}"#,
        r#"{"type":"control_response"}"#,
        r#"{"type":"control_cancel_request"}"#,
    ] {
        far.send(line).await;
        assert!(matches!(near.notes.recv().await, Some(Note::Fault(_))), "{line}");
    }
    far.send_request("b", "echo").await;
    assert!(far.responses(1).await.contains_key("b"), "no other request got a response");
}

/// JavaScript cuts texts in the middle of surrogate pairs; the request is valid all the same.
#[tokio::test]
async fn lone_surrogate_in_a_request_is_replaced() {
    let (_near, mut far) = bytes(Options::default());
    let request = r#"{"type":"control_request","request_id":"a\ud83d","request":{"cut":"\ud83d"}}"#;
    far.write_all(request.as_bytes()).await.unwrap();
    far.write_all(b"\n").await.unwrap();
    let mut line = String::new();
    BufReader::new(far).read_line(&mut line).await.unwrap();
    let response: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(response["response"]["request_id"], "a\u{fffd}");
    assert_eq!(response["response"]["response"], json!({"cut": "\u{fffd}"}));
}

#[tokio::test]
async fn control_frames_are_recognized_with_any_spacing_order_and_escapes() {
    let (mut near, mut far) = rig(Options::default());
    for (id, line) in [
        ("a", r#"{"type": "control_request", "request_id": "a", "request": {}}"#),
        ("b", r#" { "request" : {"type":"user"}, "request_id":"b", "type" :"control_request" } "#),
        ("c", r#"{"type":"control\u005frequest","request_id":"c","request":{}}"#),
        ("d", r#"{"t\u0079pe":"control_request","request_id":"d","request":{}}"#),
    ] {
        far.send(line).await;
        assert!(far.responses(1).await.contains_key(id), "{line}");
    }
    assert_eq!(near.inbox.try_next(), None);
}

#[tokio::test]
async fn requests_beyond_the_limit_are_refused() {
    let (_near, mut far) = rig(options(|options| options.request_limit = 2));
    far.send_request("a", "hang").await;
    far.send_request("b", "hang").await;
    far.send_request("c", "echo").await;
    assert_eq!(far.responses(1).await["c"], error("c", "too many requests in flight"));
    far.send(json!({"type": "control_cancel_request", "request_id": "a"})).await;
    far.send_request("d", "echo").await;
    assert_eq!(far.responses(1).await["d"]["subtype"], "success");
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_requests_in_flight_are_cancelled_or_refused() {
    const COUNT: usize = 10_000;
    let (mut near, mut far) = rig(Options::default());
    for n in 0..COUNT {
        far.send_request(&format!("r{n}"), "hang").await;
    }
    for n in (0..COUNT).rev().step_by(2) {
        far.send(json!({"type": "control_cancel_request", "request_id": format!("r{n}")})).await;
    }
    for _ in 0..COUNT / 2 {
        assert!(matches!(near.notes.recv().await, Some(Note::Cancelled(_))));
    }
    // The other half is still there, and ends with the session.
    near.peer.close();
    let responses = far.responses(COUNT / 2).await;
    assert_eq!(responses["r0"], error("r0", "the session closed before there was a response"));
    assert!(!responses.contains_key("r1"));
    assert_eq!(far.receive().await, json!(null));
    near.session.await.unwrap().unwrap();
}
