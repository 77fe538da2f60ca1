//! How sessions end: half at a time, in order, within limits, and for everyone.

use std::time::Duration;

use bowline_peer::{AskError, Link, Options, SessionError, TellError};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time};

use crate::rig::{Note, error, near, options, rig};

#[tokio::test]
async fn the_end_of_input_fails_every_asker_at_once() {
    let (near, mut far) = rig(options(|options| options.time_limit = None));
    let mut asks = JoinSet::new();
    for _ in 0..50 {
        let peer = near.peer.clone();
        asks.spawn(async move { peer.ask_raw(&1).await });
    }
    for _ in 0..50 {
        far.question().await;
    }
    let _hear = far.end_of_input();
    while let Some(asked) = asks.join_next().await {
        assert!(matches!(asked.unwrap(), Err(AskError::Closed)));
    }
    assert!(matches!(near.peer.ask_raw(&1).await, Err(AskError::Closed)), "and later ones");
}

#[tokio::test]
async fn input_may_end_before_output() {
    let (mut near, mut far) = rig(Options::default());
    far.say(json!({"type": "user"})).await;
    far.ask("a", "echo").await;
    let mut hear = far.end_of_input();
    assert_eq!(near.notes.recv().await, Some(Note::EndOfInput));
    near.peer.tell(&json!({"type": "result"})).await.unwrap();
    let mut lines = [hear.recv().await.unwrap(), hear.recv().await.unwrap()];
    lines.sort();
    assert!(lines[0].contains("control_response"));
    assert_eq!(lines[1], r#"{"type":"result"}"#);
    near.may_stop.add_permits(1);
    assert_eq!(hear.recv().await, None);
    near.session.await.unwrap().unwrap();
    assert!(matches!(near.peer.tell(&1).await, Err(TellError::Closed)));
    // What was said is still there to be read.
    assert_eq!(near.inbox.next().await.unwrap().text, r#"{"type":"user"}"#);
    assert_eq!(near.inbox.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn handlers_that_are_too_slow_at_the_end_are_answered_for() {
    let (mut near, mut far) = rig(options(|options| options.drain_limit = Duration::from_secs(3)));
    far.ask("a", "hang").await;
    far.ask("b", "echo").await;
    assert!(far.answers(1).await.contains_key("b"));
    let start = time::Instant::now();
    near.peer.close();
    let answers = far.answers(1).await;
    assert_eq!(answers["a"], error("a", "the session closed before there was an answer"));
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert_eq!(far.hear().await, Value::Null);
    near.session.await.unwrap().unwrap();
    assert_eq!(near.inbox.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn an_end_that_listens_no_more_is_not_waited_for() {
    let (near, far) = rig(Options::default());
    for n in 0..10 {
        near.peer.tell(&n).await.unwrap();
    }
    near.peer.close();
    let ended = near.session.await.unwrap();
    assert!(matches!(ended, Err(SessionError::NotTaken(limit)) if limit.as_secs() == 5));
    drop(far);
}

#[tokio::test]
async fn close_cuts_the_work_after_the_end_of_input_short() {
    let (mut near, far) = rig(Options::default());
    let hear = far.end_of_input();
    assert_eq!(near.notes.recv().await, Some(Note::EndOfInput));
    near.peer.close();
    near.session.await.unwrap().unwrap();
    drop(hear);
}

#[tokio::test]
async fn dropping_the_session_ends_it_for_everyone() {
    let (mut near, mut far) = rig(Options::default());
    let ask = tokio::spawn({
        let peer = near.peer.clone();
        async move { peer.ask_raw(&1).await }
    });
    far.question().await;
    near.session.abort();
    assert!(matches!(ask.await.unwrap(), Err(AskError::Closed)));
    assert!(matches!(near.peer.tell(&1).await, Err(TellError::Closed)));
    assert_eq!(near.inbox.next().await, None);
    assert_eq!(far.hear().await, Value::Null);
}

/// A pipe that breaks when it is written to, and never says a word.
#[tokio::test]
async fn a_broken_pipe_fails_askers_and_ends_quietly() {
    let (silent, _never) = tokio::io::duplex(64);
    let (broken, gone) = tokio::io::duplex(64);
    drop(gone);
    let near = near(Link::stream(silent, broken), Options::default());
    assert!(matches!(near.peer.ask_raw(&1).await, Err(AskError::Closed)));
    near.peer.close();
    near.session.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_end_that_asks_without_end_and_reads_nothing_is_given_up() {
    let (near, mut far) = rig(options(|options| options.request_limit = 0));
    let id = "x".repeat(100_000);
    for _ in 0..400 {
        far.ask(&id, "echo").await;
    }
    assert!(matches!(near.peer.tell(&1).await, Err(TellError::Closed)));
    let _hear = far.end_of_input();
    near.may_stop.add_permits(1);
    let ended = near.session.await.unwrap().unwrap_err();
    assert_eq!(ended.to_string(), "writing: the other end asks without end and reads nothing");
}
