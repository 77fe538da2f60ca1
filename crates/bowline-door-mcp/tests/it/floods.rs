//! Clients that ask without end, or do not read what they are answered.

use std::time::Duration;

use serde_json::json;
use tokio::{io::AsyncWriteExt, time::timeout};

use crate::rig::{Client, PATIENCE};

/// Much more than is taken in at a time.
const MANY: usize = 5_000;

#[tokio::test]
async fn every_call_of_a_flood_is_answered_or_refused() {
    // Calls about which a person is asked, who never answers: none of them ends.
    let mut client = Client::with(json!({"elicitation": {}}), |_| {}).await;
    let (reader, writer) = client.split();
    let call = json!({"name": "Bash", "arguments": {"command": "touch made.txt"}});
    let flood = async {
        for id in 0..MANY {
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call});
            writer.write_all(format!("{call}\n").as_bytes()).await.unwrap();
        }
    };
    let answers = async {
        let mut refused = 0;
        while refused < MANY - 320 {
            let line = reader.next_line().await.unwrap().expect("the server lives");
            refused += usize::from(line.contains("too many requests are in flight"));
        }
    };
    let both = async { tokio::join!(flood, answers) };
    timeout(PATIENCE, both).await.expect("the flood is read");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read() {
    let mut client = Client::new().await;
    let (_reader, writer) = client.split();
    let ping = format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    let flood = async {
        let mut written = 0;
        while timeout(Duration::from_secs(1), writer.write_all(ping.as_bytes())).await.is_ok() {
            written += ping.len();
            assert!(written < 4 * 1024 * 1024, "{written} bytes are read, and no answer");
        }
    };
    timeout(PATIENCE, flood).await.expect("the client has to wait");
}

#[tokio::test]
async fn notifications_without_end_are_taken_in_turns() {
    let mut client = Client::new().await;
    let news = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    let news = format!("{news}\n").repeat(100);
    for _ in 0..1_000 {
        client.write(news.as_bytes()).await;
    }
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
}
