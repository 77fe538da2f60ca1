//! Ordered dispatch: requests from the inbox, started in order, completed concurrently, one response each.

use std::sync::Arc;

use bowline_peer::{Dispatcher, Options, RequestRouting, Response};
use bowline_protocol::{CanUseTool, Elicitation, RawJson, RequestId, Success};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::Notify;

use crate::rig::{Far, Near, error, options, rig};

fn ordered() -> (Near, Far, Dispatcher) {
    let in_order = |options: &mut Options| options.request_routing = RequestRouting::Inbox;
    let (near, far) = rig(options(in_order));
    let dispatcher = near.peer.dispatcher(2);
    (near, far, dispatcher)
}

fn id(id: &str) -> Option<RequestId> {
    Some(RequestId(id.to_owned()))
}

fn success(body: &str) -> Response {
    let response = Some(RawJson::from_value(&body).unwrap());
    Response::new(Ok(Success { response, ..Success::default() }))
}

#[tokio::test]
async fn handlers_start_in_order_and_complete_concurrently() {
    let (_near, mut far, mut dispatcher) = ordered();
    let (started, release) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
    for name in ["a", "b"] {
        let (log, release) = (started.clone(), release.clone());
        let handler = |_| async move {
            log.lock().push(name);
            if name == "a" {
                release.notified().await;
            }
            success(name)
        };
        dispatcher.dispatch(id(name), handler).await;
        // The caller's next message is handled after the handler has begun.
        started.lock().push("message");
    }
    assert_eq!(*started.lock(), ["a", "message", "b", "message"]);
    assert!(far.responses(1).await.contains_key("b"), "`a` holds up no other");
    release.notify_one();
    dispatcher.join_all().await;
    assert!(far.responses(1).await.contains_key("a"));
}

#[tokio::test]
async fn consequences_follow_the_response() {
    let (near, mut far, mut dispatcher) = ordered();
    let peer = near.peer.clone();
    let handler = |_| async {
        success("done").delivered(async move { peer.send(&json!("after")).await.unwrap() })
    };
    dispatcher.run(id("a"), handler).await;
    assert!(far.responses(1).await.contains_key("a"));
    assert_eq!(far.receive().await, "after");
}

#[tokio::test]
async fn panic_and_refusal_are_responses() {
    let (_near, mut far, mut dispatcher) = ordered();
    dispatcher.dispatch(id("a"), |_| async { panic!("as requested") }).await;
    dispatcher.dispatch(id("b"), |_| async { Response::refusal("no") }).await;
    let late = |_| async {
        tokio::task::yield_now().await;
        panic!("as requested")
    };
    dispatcher.dispatch(id("c"), late).await;
    let responses = far.responses(3).await;
    assert_eq!(responses["a"], error("a", "the handler of this request panicked"));
    assert_eq!(responses["b"], error("b", "no"));
    assert_eq!(responses["c"], error("c", "the handler of this request panicked"));
}

#[tokio::test]
async fn cancelled_request_still_gets_its_response() {
    let (_near, mut far, mut dispatcher) = ordered();
    let handler = |cancel: tokio_util::sync::CancellationToken| async move {
        cancel.cancelled().await;
        Response::refusal("cancelled")
    };
    dispatcher.dispatch(id("a"), handler).await;
    dispatcher.cancel(&RequestId("unknown".to_owned()));
    dispatcher.cancel(&RequestId("a".to_owned()));
    assert_eq!(far.responses(1).await["a"], error("a", "cancelled"));
}

#[tokio::test]
async fn request_without_an_id_gets_a_response_without_one() {
    let (_near, mut far, mut dispatcher) = ordered();
    dispatcher.dispatch(None, |_| async { success("done") }).await;
    let expected = json!({"type": "control_response",
        "response": {"subtype": "success", "response": "done"}});
    assert_eq!(far.receive().await, expected);
}

#[tokio::test]
async fn requests_with_the_same_id_each_get_a_response() {
    let (_near, mut far, mut dispatcher) = ordered();
    let release = Arc::new(Notify::new());
    let waiting = release.clone();
    dispatcher
        .dispatch(id("a"), |_| async move {
            waiting.notified().await;
            success("1")
        })
        .await;
    dispatcher.dispatch(id("a"), |_| async { success("2") }).await;
    assert_eq!(far.responses(1).await["a"]["response"], "2");
    release.notify_one();
    assert_eq!(far.responses(1).await["a"]["response"], "1");
}

#[tokio::test]
async fn capacity_is_what_runs_and_returns() {
    let (_near, mut far, mut dispatcher) = ordered();
    let release = Arc::new(Notify::new());
    for name in ["a", "b"] {
        let release = release.clone();
        let handler = |_| async move {
            release.notified().await;
            success(name)
        };
        assert!(dispatcher.has_capacity());
        dispatcher.dispatch(id(name), handler).await;
    }
    assert!(!dispatcher.has_capacity());
    release.notify_one();
    dispatcher.join_next().await;
    assert!(dispatcher.has_capacity());
    far.responses(1).await;
}

#[tokio::test]
async fn dropped_and_closed_handlers_are_refused() {
    let (near, mut far, mut dispatcher) = ordered();
    let mut other = near.peer.dispatcher(1);
    other.dispatch(id("a"), |_| std::future::pending()).await;
    drop(other);
    let refused = error("a", "the handler of this request was stopped");
    assert_eq!(far.responses(1).await["a"], refused);
    dispatcher.dispatch(id("b"), |_| std::future::pending()).await;
    near.peer.close();
    let refused = error("b", "the session closed before there was a response");
    assert_eq!(far.responses(1).await["b"], refused);
    assert_eq!(far.receive().await, json!(null));
    near.session.await.unwrap().unwrap();
}

#[tokio::test]
async fn listed_requests_are_those_without_a_response() {
    let (near, mut far) = rig(options(|options| options.time_limit = None));
    let request = |tool: &str| CanUseTool { tool_name: tool.to_owned(), ..CanUseTool::default() };
    let pending = |subtype| -> Vec<String> {
        let listed = near.peer.listed_requests(subtype);
        listed.iter().map(|request| request.get().to_owned()).collect()
    };
    let mut calls = Vec::new();
    let mut lines = Vec::new();
    for tool in ["Bash", "Write"] {
        let (peer, request) = (near.peer.clone(), request(tool));
        calls.push(tokio::spawn(async move { peer.request_listed(request).await }));
        lines.push(far.lines.recv().await.unwrap());
    }
    let unlisted = near.peer.clone();
    let unlisted =
        tokio::spawn(
            async move { unlisted.request_raw(&json!({"subtype": "can_use_tool"})).await },
        );
    far.request().await;
    assert_eq!(pending("can_use_tool"), lines, "as they were sent, oldest first");
    assert_eq!(pending("elicitation"), [""; 0]);
    let first: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    far.respond(first["request_id"].as_str().unwrap(), json!({"behavior": "allow"})).await;
    calls.remove(0).await.unwrap().unwrap();
    assert_eq!(pending("can_use_tool"), lines[1..]);
    calls[0].abort();
    assert_eq!(far.receive().await["type"], "control_cancel_request");
    assert_eq!(pending("can_use_tool"), [""; 0]);
    let elicitation = near.peer.clone();
    let elicited =
        tokio::spawn(async move { elicitation.request_listed(Elicitation::default()).await });
    far.request().await;
    assert_eq!(pending("elicitation").len(), 1);
    elicited.abort();
    unlisted.abort();
}
