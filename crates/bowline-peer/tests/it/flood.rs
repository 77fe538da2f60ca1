//! Floods in both directions.

use bowline_peer::{Link, Options, Peer, Request, Service, connect_with};
use bowline_protocol::{Failure, Success};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::rig::{near, options};

/// Neither end reads a message while both send and request, far beyond what any queue holds.
#[tokio::test]
async fn mutual_floods_do_not_deadlock() {
    const MESSAGES: usize = 3_000;
    let (here, there) = Link::pair();
    let small = || options(|options| options.inbox_limit = 10_000);
    let mut ends = [near(here, small()), near(there, small())];
    let mut work = JoinSet::new();
    for end in &ends {
        let peer = end.peer.clone();
        work.spawn(async move {
            for n in 0..MESSAGES {
                peer.send(&json!({"type": "user", "n": n, "text": "x".repeat(2000)}))
                    .await
                    .unwrap();
            }
        });
        for n in 0..500 {
            let peer = end.peer.clone();
            work.spawn(async move {
                let answer = peer.request_raw(&json!({"n": n})).await.unwrap().unwrap();
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
async fn ten_thousand_requests_get_their_responses() {
    let (here, there) = Link::pair();
    let (asker, _answerer) = (near(here, Options::default()), near(there, Options::default()));
    let mut asks = JoinSet::new();
    for n in 0..10_000 {
        let peer = asker.peer.clone();
        asks.spawn(async move { (n, peer.request_raw(&json!({"n": n})).await.unwrap().unwrap()) });
    }
    for (n, answer) in asks.join_all().await {
        assert_eq!(answer.get(), format!("{{\"n\":{n}}}"));
    }
}

/// A handler makes requests of its own before it responds: no deadlock.
#[tokio::test]
async fn handler_may_make_requests() {
    struct RequestBack(Peer);

    impl Service for RequestBack {
        async fn request(
            &self,
            request: Request,
            _: CancellationToken,
        ) -> Result<Success, Failure> {
            let depth: u32 = request.body.parse().unwrap();
            if depth > 0 {
                self.0.request_raw(&(depth - 1)).await.unwrap();
            }
            Ok(Success::default())
        }
    }

    let (here, there) = Link::pair();
    let (peer, _, one) = connect_with(here, RequestBack, Options::default());
    let (_, _, other) = connect_with(there, RequestBack, Options::default());
    let sessions = [tokio::spawn(one), tokio::spawn(other)];
    assert_eq!(peer.request_raw(&50).await.unwrap(), None);
    peer.close();
    for session in sessions {
        session.await.unwrap().unwrap();
    }
}
