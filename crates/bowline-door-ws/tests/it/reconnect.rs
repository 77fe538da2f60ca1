//! When to dial again, and when to give up.

use std::{io::Write, time::Duration};

use bowline_door_ws::{
    ConnectionEnd, ConnectionFailure, ConnectionLost, DialError, Dialer,
    IDLE_CONNECTIONS_PER_ATTEMPT, KeepAlive, Token,
};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::{
    plain_host::{Connection, PlainHost},
    rig::{Agent, Talk, quick, reader},
};

fn given_up(ending: ConnectionEnd) -> (u32, ConnectionFailure, bool) {
    match ending {
        ConnectionEnd::AttemptsExhausted { attempts, failure, connected } => {
            (attempts, failure, connected)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_host_that_is_gone_is_given_up_and_the_turn_is_finished() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let gate = agent.gate();
    let mut connection = host.accept().await;
    // The command waits until somebody opens the gate.
    let input = json!({"command": format!("read line < {}; echo $line > made", gate.display())});
    connection.prompt("u1", &format!("TOOL Bash {input}\nNEXT\nSAY done")).await;
    let question = connection.await_kind("can_use_tool").await;
    connection.answer(&question, json!({"behavior": "allow"})).await;
    let mut open = reader(gate).await;
    drop((connection, host));
    open.write_all(b"through\n").unwrap();
    drop(open);
    let (served, ending) = agent.end().await;
    assert_eq!(served.unwrap().last_turn_failed, Some(false));
    assert_eq!(agent.text("made"), "through\n");
    let (attempts, failure, connected) = given_up(ending);
    assert!(matches!(failure, ConnectionFailure::Dial(DialError::Unreachable(_))), "{failure}");
    assert_eq!((attempts, connected), (3, true));
}

#[tokio::test]
async fn an_open_question_is_a_no_when_nobody_is_left() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let mut connection = host.accept().await;
    connection.prompt("u1", "TOOL Bash {\"command\":\"touch made\"}\nNEXT\nSAY after").await;
    connection.await_kind("can_use_tool").await;
    drop((connection, host));
    let (served, ending) = agent.end().await;
    assert_eq!(served.unwrap().last_turn_failed, Some(false));
    assert!(!agent.file("made").exists());
    given_up(ending);
}

#[tokio::test]
async fn a_host_that_never_was_there() {
    let host = PlainHost::new().await;
    let url = host.url();
    drop(host);
    let mut agent = Agent::dialing(&url, quick());
    let (served, ending) = agent.end().await;
    assert_eq!(served.unwrap().last_turn_failed, None);
    let (attempts, _, connected) = given_up(ending);
    assert_eq!((attempts, connected), (3, false));
}

#[tokio::test]
async fn a_host_that_lets_everybody_in_and_nobody_stay() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    // The first connection and three more.
    for _ in 0..4 {
        drop(host.accept().await);
    }
    let (attempts, failure, connected) = given_up(agent.end().await.1);
    assert!(matches!(failure, ConnectionFailure::Lost(_)), "{failure}");
    assert_eq!((attempts, connected), (3, true));
}

#[tokio::test]
async fn a_host_that_always_says_the_same_is_given_up() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    for _ in 0..4 {
        let mut connection = host.accept().await;
        connection.say(&json!({"type": "keep_alive"})).await;
        connection.say(&json!({"type": "unknown_type"})).await;
    }
    let (attempts, _, connected) = given_up(agent.end().await.1);
    assert_eq!((attempts, connected), (3, true));
}

#[tokio::test]
async fn a_host_that_only_opens_the_session_over_and_over_is_given_up() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    for number in 0..4 {
        let mut connection = host.accept().await;
        let asked = |id: String, request: Value| json!({"type": "control_request", "request_id": id, "request": request});
        connection.say(&asked(format!("i{number}"), json!({"subtype": "initialize"}))).await;
        connection.await_kind("control_response").await;
        connection.say(&asked(format!("s{number}"), json!({"subtype": "mcp_status"}))).await;
        connection.await_kind("control_response").await;
    }
    let (attempts, _, connected) = given_up(agent.end().await.1);
    assert_eq!((attempts, connected), (3, true));
}

#[tokio::test]
async fn a_host_that_stays_for_a_while_each_time_is_given_up_later() {
    let host = PlainHost::new().await;
    let mut policy = quick();
    // Every handshake is long enough to count.
    policy.stable_after = Duration::ZERO;
    policy.attempts = 1;
    let mut agent = Agent::dialing(&host.url(), policy);
    for _ in 0..=IDLE_CONNECTIONS_PER_ATTEMPT {
        drop(host.accept().await);
    }
    let (attempts, failure, connected) = given_up(agent.end().await.1);
    assert!(matches!(failure, ConnectionFailure::Lost(_)), "{failure}");
    assert_eq!((attempts, connected), (IDLE_CONNECTIONS_PER_ATTEMPT + 1, true));
}

#[tokio::test]
async fn progress_on_a_connection_resets_the_attempts() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    for number in 0..10 {
        let mut connection = host.accept().await;
        let word = format!("SAY {number}");
        connection.prompt(&format!("u{number}"), &word).await;
        connection.await_kind("init").await;
    }
    host.accept().await.hang_up().await;
    assert!(matches!(agent.end().await.1, ConnectionEnd::Closed));
}

#[tokio::test]
async fn a_host_that_says_it_is_over() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    drop(host.accept().await);
    let mut stream = host.accept_raw().await;
    stream.write_all(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    assert!(matches!(agent.end().await.1, ConnectionEnd::Closed));
}

#[tokio::test]
async fn a_host_that_was_over_before_it_began() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let mut stream = host.accept_raw().await;
    stream.write_all(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    let (attempts, failure, connected) = given_up(agent.end().await.1);
    assert!(matches!(failure, ConnectionFailure::Dial(DialError::Refused(410))), "{failure}");
    assert_eq!((attempts, connected), (0, false));
}

#[tokio::test]
async fn a_silent_host_is_noticed() {
    let host = PlainHost::new().await;
    let mut policy = quick();
    let silence = Duration::from_secs(2);
    policy.keep_alive = KeepAlive { ping: Duration::from_millis(40), silence };
    let mut agent = Agent::dialing(&host.url(), policy);
    // It has shaken hands, and does not even answer pings.
    let silent = host.accept().await;
    let mut connection = host.accept().await;
    connection.prompt("u1", "SAY still here").await;
    assert_eq!(connection.await_kind("result").await["result"], "still here");
    connection.hang_up().await;
    drop(silent);
    assert!(matches!(agent.end().await.1, ConnectionEnd::Closed));
}

#[tokio::test]
async fn a_host_that_does_not_answer_the_dial() {
    let host = PlainHost::new().await;
    let mut dialer = Dialer::new(host.url().parse().unwrap());
    dialer.limit = Duration::from_millis(50);
    let mut policy = quick();
    policy.attempts = 1;
    let mut agent = Agent::with(dialer, policy, Talk::Whole);
    let (attempts, failure, connected) = given_up(agent.end().await.1);
    assert!(matches!(failure, ConnectionFailure::Dial(DialError::TimedOut(_))), "{failure}");
    assert_eq!((attempts, connected), (1, false));
}

#[tokio::test]
async fn other_goodbyes_are_losses() {
    let host = PlainHost::new().await;
    let mut policy = quick();
    policy.attempts = 0;
    let mut agent = Agent::dialing(&host.url(), policy);
    host.accept().await.close_with(1012).await;
    let (_, failure, _) = given_up(agent.end().await.1);
    assert!(
        matches!(failure, ConnectionFailure::Lost(ConnectionLost::Closed(Some(1012)))),
        "{failure}"
    );
}

#[tokio::test]
async fn a_token_is_sent_and_read_again_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "first\n").unwrap();
    let host = PlainHost::new().await;
    let mut dialer = Dialer::new(host.url().parse().unwrap());
    dialer.token = Token::File(file.clone());
    assert!(dialer.header("X-Team", "blue"));
    assert!(!dialer.header("X Team", "blue") && !dialer.header("X-Team", "b\nlue"));
    let mut agent = Agent::with(dialer, quick(), Talk::Whole);
    let connection: Connection = host.accept().await;
    assert_eq!(connection.header("authorization"), Some("Bearer first"));
    assert_eq!(connection.header("x-team"), Some("blue"));
    std::fs::write(&file, "second").unwrap();
    drop(connection);
    let connection = host.accept().await;
    assert_eq!(connection.header("authorization"), Some("Bearer second"));
    connection.hang_up().await;
    agent.end().await.0.unwrap();
}
