use futures_util::StreamExt;
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
