//! Questions we are asked: exactly one answer each, whatever becomes of the handler.

use bowline_peer::Options;
use serde_json::json;

use crate::rig::{Note, error, options, rig};

#[tokio::test]
async fn an_answer_a_refusal_and_a_panic_are_answers() {
    let (_near, mut far) = rig(Options::default());
    far.ask("a", "echo").await;
    far.ask("b", "refuse").await;
    far.ask("c", "panic").await;
    let answers = far.answers(3).await;
    assert_eq!(
        answers["a"],
        json!({"subtype": "success", "request_id": "a", "response": {"subtype": "echo"}})
    );
    assert_eq!(
        answers["b"],
        json!({"subtype": "error", "request_id": "b", "error": "no", "error_code": "not_today"})
    );
    assert_eq!(answers["c"], error("c", "the handler of this request panicked"));
}

#[tokio::test]
async fn a_hanging_handler_holds_up_nobody() {
    let (_near, mut far) = rig(Options::default());
    far.ask("a", "hang").await;
    far.ask("b", "echo").await;
    assert!(far.answers(1).await.contains_key("b"));
}

#[tokio::test]
async fn a_withdrawn_question_gets_no_answer() {
    let (mut near, mut far) = rig(Options::default());
    far.ask("a", "hang").await;
    far.say(json!({"type": "control_cancel_request", "request_id": "a"})).await;
    assert_eq!(near.notes.recv().await, Some(Note::Cancelled("a".to_owned())));
    // Unknown ones are nobody's business.
    far.say(json!({"type": "control_cancel_request", "request_id": "z"})).await;
    // Once withdrawn, the id is free.
    far.ask("a", "echo").await;
    let answers = far.answers(1).await;
    assert_eq!(answers["a"]["response"], json!({"subtype": "echo"}));
}

#[tokio::test]
async fn a_question_delivered_twice_is_answered_once() {
    let (_near, mut far) = rig(Options::default());
    far.ask("a", "hang").await;
    far.ask("a", "echo").await;
    far.ask("b", "echo").await;
    assert!(far.answers(1).await.contains_key("b"), "the second `a` was ignored");
}

#[tokio::test]
async fn a_malformed_question_is_refused_and_reported() {
    let (mut near, mut far) = rig(Options::default());
    far.say(json!({"type": "control_request", "request_id": "a"})).await;
    let answers = far.answers(1).await;
    let expected = "malformed request: missing field `request` at line 1 column 43";
    assert_eq!(answers["a"], error("a", expected));
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
        far.say(line).await;
        assert!(matches!(near.notes.recv().await, Some(Note::Fault(_))), "{line}");
    }
    far.ask("b", "echo").await;
    assert!(far.answers(1).await.contains_key("b"), "nothing else was answered");
}

/// JavaScript cuts texts in the middle of characters; the question is one all the same.
#[tokio::test]
async fn half_a_character_in_a_question_is_an_unknown_one() {
    let (_near, mut far) = rig(Options::default());
    far.say(r#"{"type":"control_request","request_id":"a\ud83d","request":{"cut":"\ud83d"}}"#)
        .await;
    let answers = far.answers(1).await;
    assert_eq!(answers["a\u{fffd}"]["response"], json!({"cut": "\u{fffd}"}));
}

#[tokio::test]
async fn control_is_known_however_it_is_spelled() {
    let (mut near, mut far) = rig(Options::default());
    for (id, line) in [
        ("a", r#"{"type": "control_request", "request_id": "a", "request": {}}"#),
        ("b", r#" { "request" : {"type":"user"}, "request_id":"b", "type" :"control_request" } "#),
        ("c", r#"{"type":"control\u005frequest","request_id":"c","request":{}}"#),
        ("d", r#"{"t\u0079pe":"control_request","request_id":"d","request":{}}"#),
    ] {
        far.say(line).await;
        assert!(far.answers(1).await.contains_key(id), "{line}");
    }
    assert_eq!(near.inbox.try_next(), None);
}

#[tokio::test]
async fn more_questions_than_agreed_are_refused() {
    let (_near, mut far) = rig(options(|options| options.request_limit = 2));
    far.ask("a", "hang").await;
    far.ask("b", "hang").await;
    far.ask("c", "echo").await;
    assert_eq!(far.answers(1).await["c"], error("c", "too many requests in flight"));
    far.say(json!({"type": "control_cancel_request", "request_id": "a"})).await;
    far.ask("d", "echo").await;
    assert_eq!(far.answers(1).await["d"]["subtype"], "success");
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_questions_are_in_flight_at_once() {
    const COUNT: usize = 10_000;
    let (mut near, mut far) = rig(Options::default());
    for n in 0..COUNT {
        far.ask(&format!("r{n}"), "hang").await;
    }
    for n in (0..COUNT).rev().step_by(2) {
        far.say(json!({"type": "control_cancel_request", "request_id": format!("r{n}")})).await;
    }
    for _ in 0..COUNT / 2 {
        assert!(matches!(near.notes.recv().await, Some(Note::Cancelled(_))));
    }
    // The other half is still there, and ends with the session.
    near.peer.close();
    let answers = far.answers(COUNT / 2).await;
    assert_eq!(answers["r0"], error("r0", "the session closed before there was an answer"));
    assert!(!answers.contains_key("r1"));
    assert_eq!(far.hear().await, json!(null));
    near.session.await.unwrap().unwrap();
}
