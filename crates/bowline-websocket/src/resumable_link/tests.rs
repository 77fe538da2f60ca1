//! A resumable link against a bare WebSocket client: large lines and pings under back-pressure.

use std::time::Duration;

use bowline_peer::{Options, Request, Service, connect};
use bowline_protocol::{Failure, Success};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{io::DuplexStream, time::timeout};
use tokio_tungstenite::{WebSocketStream, client_async_with_config, tungstenite::Message};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    accept,
    replay_buffer::BYTES,
    socket::{KeepAlive, config},
};

/// A session that accepts no requests.
struct NoRequests;

impl Service for NoRequests {
    async fn request(&self, _: Request, _: CancellationToken) -> Result<Success, Failure> {
        Err(Failure::default())
    }
}

async fn dial(stream: DuplexStream) -> WebSocketStream<DuplexStream> {
    client_async_with_config("ws://host/", stream, Some(config())).await.unwrap().0
}

/// Accepts the client on `stream` and carries lines until the connection ends.
async fn carry(resumable: &mut ResumableLink, stream: DuplexStream) -> Disconnect {
    let accepted = accept(stream, |_| Ok(None)).await.unwrap();
    resumable.carry(accepted.socket, KeepAlive::default()).await
}

#[tokio::test]
async fn large_queued_lines_all_arrive_in_order() {
    const UUIDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    let (mut resumable, link) = ResumableLink::new(Side::Host);
    let (peer, _inbox, session) = connect(link, NoRequests, Options::default());
    let session = tokio::spawn(session);
    let sending = async {
        for uuid in UUIDS {
            let text = "x".repeat(BYTES / 2);
            peer.send(&json!({"type": "assistant", "uuid": uuid, "text": text})).await.unwrap();
        }
        peer.close();
    };
    let (ours, theirs) = tokio::io::duplex(1024 * 1024);
    let receiving = async {
        let mut stream = dial(theirs).await;
        let mut uuids = Vec::new();
        while let Some(Ok(message)) = stream.next().await {
            if let Message::Text(text) = message {
                let line: Value = serde_json::from_str(&text).unwrap();
                uuids.push(line["uuid"].as_str().unwrap().to_owned());
            }
        }
        uuids
    };
    let ((), uuids, disconnect) = tokio::join!(sending, receiving, carry(&mut resumable, ours));
    assert_eq!(uuids, UUIDS);
    assert!(matches!(disconnect, Disconnect::Done), "{disconnect:?}");
    assert!(resumable.is_done());
    session.await.unwrap().unwrap();
}

/// An end that pings and does not read is not read either, so that its pongs do not pile up.
#[tokio::test]
async fn pings_of_a_client_that_does_not_read_are_held_back() {
    /// What the two ends hold between them, and the pongs that may wait.
    const BUFFERED: usize = 8 * 1024;
    let (mut resumable, _link) = ResumableLink::new(Side::Agent);
    let (ours, theirs) = tokio::io::duplex(16 * 1024);
    let pinging = async {
        let mut stream = dial(theirs).await;
        let ping = Message::Ping(vec![0; 100].into());
        let mut sent = 0;
        while timeout(Duration::from_secs(1), stream.send(ping.clone())).await.is_ok() {
            sent += 1;
            assert!(sent < BUFFERED, "{sent} pings were read without a pong");
        }
        // Once it reads, the other end does too.
        let reading = async {
            let mut pongs = 0;
            while pongs < sent {
                pongs += usize::from(matches!(stream.next().await, Some(Ok(Message::Pong(_)))));
            }
        };
        timeout(Duration::from_secs(60), reading).await.expect("pongs");
    };
    tokio::select! {
        () = pinging => {}
        disconnect = carry(&mut resumable, ours) => panic!("{disconnect:?}"),
    }
}
