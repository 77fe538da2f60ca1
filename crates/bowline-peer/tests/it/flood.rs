//! Two ends that both have much to say.

use bowline_peer::{Link, Options, Peer, Request, Service, connect_with};
use bowline_protocol::{Failure, Success};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::rig::{near, options};

/// Neither end reads a message while both talk and ask at once, far beyond what any queue holds.
#[tokio::test]
async fn two_ends_that_flood_each_other_do_not_block_each_other() {
    const MESSAGES: usize = 3_000;
    let (here, there) = Link::pair();
    let small = || options(|options| options.inbox_limit = 10_000);
    let mut ends = [near(here, small()), near(there, small())];
    let mut work = JoinSet::new();
    for end in &ends {
        let peer = end.peer.clone();
        work.spawn(async move {
            for n in 0..MESSAGES {
                peer.tell(&json!({"type": "user", "n": n, "text": "x".repeat(2000)}))
                    .await
                    .unwrap();
            }
        });
        for n in 0..500 {
            let peer = end.peer.clone();
            work.spawn(async move {
                let answer = peer.ask_raw(&json!({"n": n})).await.unwrap().unwrap();
                assert_eq!(answer.get(), format!("{{\"n\":{n}}}"));
            });
        }
    }
    work.join_all().await;
    for end in &mut ends {
        for n in 0..MESSAGES {
            let line = end.inbox.next().await.unwrap();
            let message: serde_json::Value = serde_json::from_str(line.text).unwrap();
            assert_eq!(message["n"], n);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_questions_of_ours_are_answered() {
    let (here, there) = Link::pair();
    let (asker, _answerer) = (near(here, Options::default()), near(there, Options::default()));
    let mut asks = JoinSet::new();
    for n in 0..10_000 {
        let peer = asker.peer.clone();
        asks.spawn(async move { (n, peer.ask_raw(&json!({"n": n})).await.unwrap().unwrap()) });
    }
    for (n, answer) in asks.join_all().await {
        assert_eq!(answer.get(), format!("{{\"n\":{n}}}"));
    }
}

/// A handler asks back before it answers: nothing it needs waits for it.
#[tokio::test]
async fn questions_may_be_asked_while_answering() {
    struct AskBack(Peer);

    impl Service for AskBack {
        async fn request(
            &self,
            request: Request,
            _: CancellationToken,
        ) -> Result<Success, Failure> {
            let depth: u32 = request.body.parse().unwrap();
            if depth > 0 {
                self.0.ask_raw(&(depth - 1)).await.unwrap();
            }
            Ok(Success::default())
        }
    }

    let (here, there) = Link::pair();
    let (peer, _, one) = connect_with(here, AskBack, Options::default());
    let (_, _, other) = connect_with(there, AskBack, Options::default());
    let sessions = [tokio::spawn(one), tokio::spawn(other)];
    assert_eq!(peer.ask_raw(&50).await.unwrap(), None);
    peer.close();
    for session in sessions {
        session.await.unwrap().unwrap();
    }
}
