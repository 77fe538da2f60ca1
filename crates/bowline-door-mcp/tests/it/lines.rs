//! Lines of all kinds, each of them with an answer.

use serde_json::{Value, json};

use crate::rig::{Client, text};

/// The next error without an id: the answer to what nobody could read.
async fn complaint(client: &mut Client) -> Value {
    client.wait_for(|line| line.get("error").is_some() && line.get("id").is_none()).await
}

#[tokio::test]
async fn a_line_that_is_no_message_is_answered_and_the_next_one_read() {
    let mut client = Client::new().await;
    for (line, code) in [
        ("{oops", -32700),
        ("7", -32600),
        ("[]", -32600),
        ("[1]", -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
    ] {
        client.say(line).await;
        assert_eq!(complaint(&mut client).await["error"]["code"], code, "{line}");
    }
    client.write(b"\xff\n").await;
    assert_eq!(complaint(&mut client).await["error"]["code"], -32700);
    let pinged = client.request("ping", json!({})).await;
    assert_eq!(pinged["result"], json!({}));
}

#[tokio::test]
async fn an_invalid_request_with_an_id_gets_an_error_with_that_id() {
    let mut client = Client::new().await;
    client.say(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#).await;
    let refused = client.wait_for(|line| line["id"] == "a").await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
}

#[tokio::test]
async fn a_lone_surrogate_becomes_a_replacement_character() {
    let mut client = Client::new().await;
    let prompt = r#"{"prompt":"SAY half \ud83d"}"#;
    let params = format!(r#"{{"name":"agent","arguments":{prompt}}}"#);
    let call = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{params}}}"#);
    client.say(call).await;
    let answer = client.wait_for(|line| line["id"] == "a").await;
    assert_eq!(text(&answer["result"]), "half \u{fffd}");
}

#[tokio::test]
async fn the_last_line_needs_no_end() {
    let mut client = Client::new().await;
    client.write(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#).await;
    client.end_input();
    let answer = client.wait_for(|line| line["id"] == "a").await;
    assert_eq!(answer["result"], json!({}));
}

#[tokio::test]
async fn the_messages_of_a_batch_are_answered_one_by_one() {
    let mut client = Client::new().await;
    let ping = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let told = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    client.say(json!([ping("a"), told, ping("b")])).await;
    for id in ["a", "b"] {
        let answer = client.wait_for(|line| line["id"] == id).await;
        assert_eq!(answer["result"], json!({}));
    }
}

#[tokio::test]
async fn a_batch_may_be_large_but_not_endless() {
    let mut client = Client::new().await;
    let ping = |id: usize| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let batch: Vec<_> = (0..1_001).map(ping).collect();
    client.say(json!(batch)).await;
    let refused = complaint(&mut client).await;
    assert_eq!(refused["error"]["code"], -32600);
    let why = refused["error"]["message"].as_str().unwrap();
    assert_eq!(why, "a batch of 1001 messages; at most 1000 are taken");
    let batch: Vec<_> = (10_001..=11_000).map(ping).collect();
    client.say(json!(batch)).await;
    for id in 10_001..=11_000 {
        assert_eq!(client.answer(id).await["result"], json!({}));
    }
}

#[tokio::test]
async fn a_line_may_be_long_but_not_endless() {
    const MEGABYTE: usize = 1024 * 1024;
    let mut client = Client::new().await;
    let long = json!({"_meta": {"padding": "x".repeat(17 * MEGABYTE)}});
    assert!(client.request("tools/list", long).await["result"]["tools"].is_array());
    let part = "x".repeat(MEGABYTE);
    for _ in 0..65 {
        client.write(part.as_bytes()).await;
    }
    let refused = complaint(&mut client).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("longer than"), "{refused}");
    client.say("").await;
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
}
