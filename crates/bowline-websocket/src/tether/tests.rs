use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::time::timeout;
use tokio_tungstenite::{client_async_with_config, tungstenite::Message};

use super::*;
use crate::{
    accept,
    memory::BYTES,
    socket::{KeepAlive, config},
};

#[tokio::test]
async fn large_lines_that_wait_together_all_arrive() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let (to_say, outgoing) = mpsc::channel(names.len());
    let (mut tether, _link) = Tether::new(Side::Host);
    tether.outgoing = outgoing;
    for name in names {
        let filler = "x".repeat(BYTES / 2);
        let line = format!(r#"{{"uuid":"{name}","type":"assistant","x":"{filler}"}}"#);
        to_say.send(line).await.unwrap();
    }
    drop(to_say);
    let (ours, theirs) = tokio::io::duplex(1024 * 1024);
    let listening = async {
        let dialed = client_async_with_config("ws://host/", theirs, Some(config())).await;
        let (mut stream, _) = dialed.unwrap();
        let mut heard = Vec::new();
        while let Some(Ok(message)) = stream.next().await {
            if let Message::Text(text) = message {
                heard.push(text[9..10].to_owned());
            }
        }
        heard
    };
    let holding = async {
        let accepted = accept(ours, |_| Ok(None)).await.unwrap();
        tether.hold(accepted.socket, KeepAlive::default()).await
    };
    let (heard, parting) = tokio::join!(listening, holding);
    assert_eq!(heard, names);
    assert!(matches!(parting, Parting::Done), "{parting:?}");
}

/// An end that pings and does not read is not read, so that its pongs do not pile up.
#[tokio::test]
async fn pings_of_an_end_that_does_not_read_have_to_wait() {
    /// What the two ends hold between them, and the pongs that may wait.
    const TAKEN: usize = 8 * 1024;
    let (mut tether, _link) = Tether::new(Side::Agent);
    let (ours, theirs) = tokio::io::duplex(16 * 1024);
    let pinging = async {
        let dialed = client_async_with_config("ws://host/", theirs, Some(config())).await;
        let (mut stream, _) = dialed.unwrap();
        let ping = Message::Ping(vec![0; 100].into());
        let mut sent = 0;
        while timeout(Duration::from_secs(1), stream.send(ping.clone())).await.is_ok() {
            sent += 1;
            assert!(sent < TAKEN, "{sent} pings are read, and no pong");
        }
        // Once it reads, the other end does too.
        let answers = async {
            let mut pongs = 0;
            while pongs < sent {
                pongs += usize::from(matches!(stream.next().await, Some(Ok(Message::Pong(_)))));
            }
        };
        timeout(Duration::from_secs(60), answers).await.expect("pongs");
    };
    let holding = async {
        let accepted = accept(ours, |_| Ok(None)).await.unwrap();
        tether.hold(accepted.socket, KeepAlive::default()).await
    };
    tokio::select! {
        () = pinging => {}
        parting = holding => panic!("{parting:?}"),
    }
}
