//! Shutdown: half-close, draining within limits, and failure of every waiting caller.

use std::time::Duration;

use bowline_peer::{CallError, Link, Options, SendError, SessionError};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time};

use crate::rig::{Note, error, near, options, rig};

#[tokio::test]
async fn end_of_input_fails_every_waiting_request() {
    let (near, mut far) = rig(options(|options| options.time_limit = None));
    let mut asks = JoinSet::new();
    for _ in 0..50 {
        let peer = near.peer.clone();
        asks.spawn(async move { peer.request_raw(&1).await });
    }
    for _ in 0..50 {
        far.request().await;
    }
    let _lines = far.end_of_input();
    while let Some(asked) = asks.join_next().await {
        assert!(matches!(asked.unwrap(), Err(CallError::Closed)));
    }
    assert!(matches!(near.peer.request_raw(&1).await, Err(CallError::Closed)), "and later ones");
}

#[tokio::test]
async fn input_may_end_before_output() {
    let (mut near, mut far) = rig(Options::default());
    far.send(json!({"type": "user"})).await;
    far.send_request("a", "echo").await;
    let mut lines = far.end_of_input();
    assert_eq!(near.notes.recv().await, Some(Note::EndOfInput));
    near.peer.send(&json!({"type": "result"})).await.unwrap();
    let mut received = [lines.recv().await.unwrap(), lines.recv().await.unwrap()];
    received.sort();
    assert!(received[0].contains("control_response"));
    assert_eq!(received[1], r#"{"type":"result"}"#);
    near.may_stop.add_permits(1);
    assert_eq!(lines.recv().await, None);
    near.session.await.unwrap().unwrap();
    assert!(matches!(near.peer.send(&1).await, Err(SendError::Closed)));
    // Received messages can still be read.
    assert_eq!(near.inbox.next().await.unwrap().text, r#"{"type":"user"}"#);
    assert_eq!(near.inbox.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn slow_handlers_are_refused_after_the_drain_limit() {
    let (mut near, mut far) = rig(options(|options| options.drain_limit = Duration::from_secs(3)));
    far.send_request("a", "hang").await;
    far.send_request("b", "echo").await;
    assert!(far.responses(1).await.contains_key("b"));
    let start = time::Instant::now();
    near.peer.close();
    let responses = far.responses(1).await;
    assert_eq!(responses["a"], error("a", "the session closed before there was a response"));
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert_eq!(far.receive().await, Value::Null);
    near.session.await.unwrap().unwrap();
    assert_eq!(near.inbox.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn unread_output_does_not_delay_shutdown_beyond_the_limit() {
    let (near, far) = rig(Options::default());
    for n in 0..10 {
        near.peer.send(&n).await.unwrap();
    }
    near.peer.close();
    let ended = near.session.await.unwrap();
    assert!(matches!(ended, Err(SessionError::NotTaken(limit)) if limit.as_secs() == 5));
    drop(far);
}

#[tokio::test]
async fn close_interrupts_end_of_input_work() {
    let (mut near, far) = rig(Options::default());
    let lines = far.end_of_input();
    assert_eq!(near.notes.recv().await, Some(Note::EndOfInput));
    near.peer.close();
    near.session.await.unwrap().unwrap();
    drop(lines);
}

#[tokio::test]
async fn dropped_session_fails_every_caller() {
    let (mut near, mut far) = rig(Options::default());
    let ask = tokio::spawn({
        let peer = near.peer.clone();
        async move { peer.request_raw(&1).await }
    });
    far.request().await;
    near.session.abort();
    assert!(matches!(ask.await.unwrap(), Err(CallError::Closed)));
    assert!(matches!(near.peer.send(&1).await, Err(SendError::Closed)));
    assert_eq!(near.inbox.next().await, None);
    assert_eq!(far.receive().await, Value::Null);
}

/// A pipe that breaks when it is written to, and never says a word.
#[tokio::test]
async fn broken_pipe_fails_requests_and_ends_without_error() {
    let (silent, _never) = tokio::io::duplex(64);
    let (broken, gone) = tokio::io::duplex(64);
    drop(gone);
    let near = near(Link::stream(silent, broken), Options::default());
    assert!(matches!(near.peer.request_raw(&1).await, Err(CallError::Closed)));
    near.peer.close();
    near.session.await.unwrap().unwrap();
}

#[tokio::test]
async fn unread_refusals_beyond_the_limit_fail_the_session() {
    let (near, mut far) = rig(options(|options| options.request_limit = 0));
    let id = "x".repeat(100_000);
    for _ in 0..400 {
        far.send_request(&id, "echo").await;
    }
    assert!(matches!(near.peer.send(&1).await, Err(SendError::Closed)));
    let _lines = far.end_of_input();
    near.may_stop.add_permits(1);
    let ended = near.session.await.unwrap().unwrap_err();
    assert_eq!(ended.to_string(), "writing: the other end sends requests and reads no responses");
}
