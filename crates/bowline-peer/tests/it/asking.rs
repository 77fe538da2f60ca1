//! Questions we ask: answers in any order, refusals, time limits, second thoughts.

use std::time::Duration;

use bowline_peer::{AskError, Stray};
use bowline_protocol::Interrupt;
use serde_json::json;
use tokio::{task::JoinSet, time};

use crate::rig::{Note, options, rig};

#[tokio::test]
async fn answers_arrive_in_any_order() {
    let (near, mut far) = rig(options(|_| {}));
    let mut asks = JoinSet::new();
    for n in 0..100 {
        let peer = near.peer.clone();
        asks.spawn(async move { (n, peer.ask_raw(&json!({"n": n})).await.unwrap().unwrap()) });
    }
    let mut questions = Vec::new();
    for _ in 0..100 {
        questions.push(far.hear().await);
    }
    for question in questions.into_iter().rev() {
        let id = question["request_id"].as_str().unwrap();
        far.answer(id, question["request"]["n"].clone()).await;
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
    let ask = near.peer.ask_raw(&request);
    let acknowledge = async {
        let id = far.question().await;
        far.say(json!({"response": {"request_id": id, "subtype": "success"}, "type": "control_response"}))
            .await;
    };
    assert_eq!(tokio::join!(ask, acknowledge).0.unwrap(), None);
}

#[tokio::test]
async fn a_typed_question_has_a_typed_answer() {
    let (near, mut far) = rig(options(|_| {}));
    let reply = async {
        let question = far.hear().await;
        assert_eq!(question["request"], json!({"subtype": "interrupt"}));
        far.answer(question["request_id"].as_str().unwrap(), json!({})).await;
    };
    tokio::join!(near.peer.ask(Interrupt::default()), reply).0.unwrap();
}

#[tokio::test]
async fn a_refusal_is_an_error_with_message_and_code() {
    let (near, mut far) = rig(options(|_| {}));
    let refuse = async {
        let id = far.question().await;
        let error = json!({
            "subtype": "error", "request_id": id, "error": "no such mode",
            "error_code": "invalid_mode", "pending_permission_requests": [{"request_id": "p"}],
        });
        far.say(json!({"type": "control_response", "response": error})).await;
    };
    let refused = tokio::join!(near.peer.ask_raw(&1), refuse).0.unwrap_err();
    assert_eq!(refused.to_string(), "the other end refused: no such mode");
    assert_eq!(refused.code(), Some("invalid_mode"));
    let AskError::Refused(failure) = refused else { panic!("{refused}") };
    assert_eq!(failure.pending_permission_requests.unwrap()[0].get(), r#"{"request_id":"p"}"#);
}

#[tokio::test]
async fn lists_of_open_questions_come_with_the_answer() {
    let (near, mut far) = rig(options(|_| {}));
    let reply = async {
        let id = far.question().await;
        let success = json!({
            "subtype": "success", "request_id": id, "response": {"n": 1},
            "pending_elicitation_requests": [], "novel": true,
        });
        far.say(json!({"type": "control_response", "response": success})).await;
    };
    let success = tokio::join!(near.peer.ask_whole(&1), reply).0.unwrap();
    assert_eq!(success.pending_elicitation_requests, Some(vec![]));
    assert_eq!(success.extra["novel"], true);
}

#[tokio::test]
async fn dropping_a_question_withdraws_it() {
    let (mut near, mut far) = rig(options(|_| {}));
    let ask = tokio::spawn({
        let peer = near.peer.clone();
        async move { peer.ask_raw(&1).await }
    });
    let id = far.question().await;
    ask.abort();
    assert_eq!(far.hear().await, json!({"type": "control_cancel_request", "request_id": id}));
    far.answer(&id, json!(1)).await;
    assert_eq!(near.notes.recv().await, Some(Note::Stray(id, Stray::Late)));
}

#[tokio::test]
async fn a_question_that_never_left_needs_no_withdrawal() {
    let (near, mut far) = rig(options(|_| {}));
    let big = "x".repeat(1 << 20);
    // The first two fill the link and the queue, so that the question has to wait.
    for _ in 0..2 {
        near.peer.tell(&big).await.unwrap();
    }
    let ask = tokio::spawn({
        let peer = near.peer.clone();
        async move { peer.ask_raw(&1).await }
    });
    let third = near.peer.clone();
    tokio::task::yield_now().await;
    ask.abort();
    assert!(ask.await.unwrap_err().is_cancelled());
    let last = async { third.tell(&"last").await.unwrap() };
    let heard = async { [far.hear().await, far.hear().await, far.hear().await] };
    let (_, [one, two, three]) = tokio::join!(last, heard);
    assert_eq!(
        (one.as_str().map(str::len), two.as_str().map(str::len)),
        (Some(1 << 20), Some(1 << 20))
    );
    assert_eq!(three, "last");
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_take_so_long_and_no_longer() {
    let (mut near, mut far) = rig(options(|_| {}));
    let start = time::Instant::now();
    let (error, id) = tokio::join!(near.peer.ask_raw(&1), far.question());
    assert!(matches!(error.unwrap_err(), AskError::TimedOut(limit) if limit.as_secs() == 60));
    assert_eq!(start.elapsed(), Duration::from_secs(60));
    assert_eq!(far.hear().await["type"], "control_cancel_request");
    far.answer(&id, json!(1)).await;
    assert_eq!(near.notes.recv().await, Some(Note::Stray(id, Stray::Late)));
}

#[tokio::test(start_paused = true)]
async fn each_question_may_have_its_own_time_limit() {
    let (near, mut far) = rig(options(|_| {}));
    let start = time::Instant::now();
    let quick = near.peer.within(Duration::from_secs(1));
    let (error, _) = tokio::join!(quick.ask_raw(&1), far.question());
    assert!(matches!(error.unwrap_err(), AskError::TimedOut(_)));
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    far.hear().await;

    let patient = near.peer.without_time_limit();
    let late = async {
        let id = far.question().await;
        time::sleep(Duration::from_secs(24 * 3600)).await;
        far.answer(&id, json!("at last")).await;
    };
    let answer = tokio::join!(patient.ask_raw(&1), late).0.unwrap();
    assert_eq!(answer.unwrap().get(), r#""at last""#);
}

#[tokio::test]
async fn a_second_answer_is_known_for_what_it_is() {
    let (mut near, mut far) = rig(options(|_| {}));
    let answer_twice = async {
        let id = far.question().await;
        far.answer(&id, json!(1)).await;
        far.answer(&id, json!(2)).await;
        id
    };
    let (answer, first) = tokio::join!(near.peer.ask_raw(&1), answer_twice);
    assert_eq!(answer.unwrap().unwrap().get(), "1");
    assert_eq!(near.notes.recv().await, Some(Note::Stray(first.clone(), Stray::Duplicate)));
    far.answer("nobody", json!(1)).await;
    assert_eq!(near.notes.recv().await, Some(Note::Stray("nobody".to_owned(), Stray::Unknown)));

    // The first is remembered through 999 more, and forgotten with the next.
    for more in [999, 1] {
        let expected = if more == 999 { Stray::Duplicate } else { Stray::Unknown };
        for _ in 0..more {
            let reply = async {
                let id = far.question().await;
                far.answer(&id, json!(1)).await;
            };
            tokio::join!(near.peer.ask_raw(&1), reply).0.unwrap();
        }
        far.answer(&first, json!(3)).await;
        assert_eq!(near.notes.recv().await, Some(Note::Stray(first.clone(), expected)));
    }
}

#[tokio::test]
async fn what_has_no_form_in_json_is_not_asked() {
    let (near, mut far) = rig(options(|_| {}));
    let unwritable = std::collections::HashMap::from([([1], 2)]);
    let error = near.peer.ask_raw(&unwritable).await.unwrap_err();
    assert!(matches!(error, AskError::Unwritable(_)));
    near.peer.tell(&"next").await.unwrap();
    assert_eq!(far.hear().await, "next");
}
