//! Requests to the other end: responses in any order, refusals, timeouts, cancellation.

use std::time::Duration;

use bowline_peer::{CallError, StrayResponse};
use bowline_protocol::Interrupt;
use serde_json::json;
use tokio::{task::JoinSet, time};

use crate::rig::{Note, options, rig};

#[tokio::test]
async fn responses_arrive_in_any_order() {
    let (near, mut far) = rig(options(|_| {}));
    let mut asks = JoinSet::new();
    for n in 0..100 {
        let peer = near.peer.clone();
        asks.spawn(async move { (n, peer.request_raw(&json!({"n": n})).await.unwrap().unwrap()) });
    }
    let mut questions = Vec::new();
    for _ in 0..100 {
        questions.push(far.receive().await);
    }
    for question in questions.into_iter().rev() {
        let id = question["request_id"].as_str().unwrap();
        far.respond(id, question["request"]["n"].clone()).await;
    }
    while let Some(asked) = asks.join_next().await {
        let (n, answer) = asked.unwrap();
        assert_eq!(answer.get(), n.to_string());
    }
}

#[tokio::test]
async fn an_acknowledgement_has_no_body() {
    let (near, mut far) = rig(options(|_| {}));
    let request = json!({"subtype": "interrupt"});
    let ask = near.peer.request_raw(&request);
    let acknowledge = async {
        let id = far.request().await;
        far.send(json!({"response": {"request_id": id, "subtype": "success"}, "type": "control_response"}))
            .await;
    };
    assert_eq!(tokio::join!(ask, acknowledge).0.unwrap(), None);
}

#[tokio::test]
async fn typed_request_has_a_typed_response() {
    let (near, mut far) = rig(options(|_| {}));
    let reply = async {
        let question = far.receive().await;
        assert_eq!(question["request"], json!({"subtype": "interrupt"}));
        far.respond(question["request_id"].as_str().unwrap(), json!({})).await;
    };
    tokio::join!(near.peer.request(Interrupt::default()), reply).0.unwrap();
}

#[tokio::test]
async fn a_refusal_is_an_error_with_message_and_code() {
    let (near, mut far) = rig(options(|_| {}));
    let refuse = async {
        let id = far.request().await;
        let error = json!({
            "subtype": "error", "request_id": id, "error": "no such mode",
            "error_code": "invalid_mode", "pending_permission_requests": [{"request_id": "p"}],
        });
        far.send(json!({"type": "control_response", "response": error})).await;
    };
    let refused = tokio::join!(near.peer.request_raw(&1), refuse).0.unwrap_err();
    assert_eq!(refused.to_string(), "the other end refused: no such mode");
    assert_eq!(refused.code(), Some("invalid_mode"));
    let CallError::Refused(failure) = refused else { panic!("{refused}") };
    assert_eq!(failure.pending_permission_requests.unwrap()[0].get(), r#"{"request_id":"p"}"#);
}

#[tokio::test]
async fn pending_requests_are_listed_in_the_envelope() {
    let (near, mut far) = rig(options(|_| {}));
    let reply = async {
        let id = far.request().await;
        let success = json!({
            "subtype": "success", "request_id": id, "response": {"n": 1},
            "pending_elicitation_requests": [], "novel": true,
        });
        far.send(json!({"type": "control_response", "response": success})).await;
    };
    let success = tokio::join!(near.peer.request_envelope(&1), reply).0.unwrap();
    assert_eq!(success.pending_elicitation_requests, Some(vec![]));
    assert_eq!(success.extra["novel"], true);
}

#[tokio::test]
async fn dropped_request_is_cancelled() {
    let (mut near, mut far) = rig(options(|_| {}));
    let ask = tokio::spawn({
        let peer = near.peer.clone();
        async move { peer.request_raw(&1).await }
    });
    let id = far.request().await;
    ask.abort();
    assert_eq!(far.receive().await, json!({"type": "control_cancel_request", "request_id": id}));
    far.respond(&id, json!(1)).await;
    assert_eq!(near.notes.recv().await, Some(Note::Stray(id, StrayResponse::Late)));
}

#[tokio::test]
async fn unsent_request_is_not_cancelled_on_the_wire() {
    let (near, mut far) = rig(options(|_| {}));
    let big = "x".repeat(1 << 20);
    // The first two fill the link and the queue, so that the request has to wait.
    for _ in 0..2 {
        near.peer.send(&big).await.unwrap();
    }
    let ask = tokio::spawn({
        let peer = near.peer.clone();
        async move { peer.request_raw(&1).await }
    });
    let third = near.peer.clone();
    tokio::task::yield_now().await;
    ask.abort();
    assert!(ask.await.unwrap_err().is_cancelled());
    let last = async { third.send(&"last").await.unwrap() };
    let heard = async { [far.receive().await, far.receive().await, far.receive().await] };
    let (_, [one, two, three]) = tokio::join!(last, heard);
    assert_eq!(
        (one.as_str().map(str::len), two.as_str().map(str::len)),
        (Some(1 << 20), Some(1 << 20))
    );
    assert_eq!(three, "last");
}

#[tokio::test(start_paused = true)]
async fn request_times_out_and_is_cancelled() {
    let (mut near, mut far) = rig(options(|_| {}));
    let start = time::Instant::now();
    let (error, id) = tokio::join!(near.peer.request_raw(&1), far.request());
    assert!(matches!(error.unwrap_err(), CallError::TimedOut(limit) if limit.as_secs() == 60));
    assert_eq!(start.elapsed(), Duration::from_secs(60));
    assert_eq!(far.receive().await["type"], "control_cancel_request");
    far.respond(&id, json!(1)).await;
    assert_eq!(near.notes.recv().await, Some(Note::Stray(id, StrayResponse::Late)));
}

#[tokio::test(start_paused = true)]
async fn time_limit_can_be_set_per_request() {
    let (near, mut far) = rig(options(|_| {}));
    let start = time::Instant::now();
    let quick = near.peer.within(Duration::from_secs(1));
    let (error, _) = tokio::join!(quick.request_raw(&1), far.request());
    assert!(matches!(error.unwrap_err(), CallError::TimedOut(_)));
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    far.receive().await;

    let patient = near.peer.without_time_limit();
    let late = async {
        let id = far.request().await;
        time::sleep(Duration::from_secs(24 * 3600)).await;
        far.respond(&id, json!("at last")).await;
    };
    let answer = tokio::join!(patient.request_raw(&1), late).0.unwrap();
    assert_eq!(answer.unwrap().get(), r#""at last""#);
}

#[tokio::test]
async fn duplicate_response_is_recognized() {
    let (mut near, mut far) = rig(options(|_| {}));
    let answer_twice = async {
        let id = far.request().await;
        far.respond(&id, json!(1)).await;
        far.respond(&id, json!(2)).await;
        id
    };
    let (answer, first) = tokio::join!(near.peer.request_raw(&1), answer_twice);
    assert_eq!(answer.unwrap().unwrap().get(), "1");
    assert_eq!(near.notes.recv().await, Some(Note::Stray(first.clone(), StrayResponse::Duplicate)));
    far.respond("unknown", json!(1)).await;
    assert_eq!(
        near.notes.recv().await,
        Some(Note::Stray("unknown".to_owned(), StrayResponse::Unknown))
    );

    // The first is remembered through 999 more, and forgotten with the next.
    for more in [999, 1] {
        let expected = if more == 999 { StrayResponse::Duplicate } else { StrayResponse::Unknown };
        for _ in 0..more {
            let reply = async {
                let id = far.request().await;
                far.respond(&id, json!(1)).await;
            };
            tokio::join!(near.peer.request_raw(&1), reply).0.unwrap();
        }
        far.respond(&first, json!(3)).await;
        assert_eq!(near.notes.recv().await, Some(Note::Stray(first.clone(), expected)));
    }
}

#[tokio::test]
async fn unserializable_request_is_not_sent() {
    let (near, mut far) = rig(options(|_| {}));
    let unwritable = std::collections::HashMap::from([([1], 2)]);
    let error = near.peer.request_raw(&unwritable).await.unwrap_err();
    assert!(matches!(error, CallError::Unwritable(_)));
    near.peer.send(&"next").await.unwrap();
    assert_eq!(far.receive().await, "next");
}
