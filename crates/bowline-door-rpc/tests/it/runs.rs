//! Runs: their messages, and the ways to get them.

use serde_json::{Value, json};

use crate::rig::{Client, kinds};

#[tokio::test]
async fn a_run_streams_its_messages_and_ends_with_the_result() {
    let mut client = Client::new();
    client.run(7, "THINK hm\nSAY hello").await;
    let heard = client.until_result().await;
    assert_eq!(kinds(&heard), ["system", "system", "assistant", "assistant", "result"]);
    assert!(heard.iter().all(|line| line["id"] == 7 && line["jsonrpc"] == "2.0"), "{heard:?}");
    assert_eq!(heard[0]["result"]["subtype"], "init");
    assert_eq!(heard[1]["result"]["subtype"], "thinking_tokens");
    assert_eq!(heard[2]["result"]["message"]["content"][0]["type"], "thinking");
    let result = &heard[4]["result"];
    assert_eq!(result["result"], "hello");
    for field in ["subtype", "duration_ms", "duration_api_ms", "num_turns", "session_id", "usage"] {
        assert!(!result[field].is_null(), "{field}: {result}");
    }
    assert_eq!(result["is_error"], false);
}

#[tokio::test]
async fn tool_calls_and_their_results_are_shown() {
    let mut client = Client::new();
    client.run("a", "TOOL Bash {\"command\": \"echo hi\"}\nNEXT\nSAY done").await;
    let heard = client.until_result().await;
    assert_eq!(kinds(&heard), ["system", "assistant", "user", "assistant", "result"]);
    assert_eq!(heard[1]["result"]["message"]["content"][0]["name"], "Bash");
    let block = &heard[2]["result"]["message"]["content"][0];
    assert_eq!((&block["type"], &block["content"]), (&json!("tool_result"), &json!("hi")));
}

#[tokio::test]
async fn stream_events_come_if_they_are_wanted() {
    let mut client = Client::new();
    client.call(1, "run", json!({"prompt": "SAY hello", "stream": true})).await;
    let heard = client.until_result().await;
    let events = heard.iter().filter(|line| line["result"]["type"] == "stream_event");
    let first = events.clone().next().unwrap();
    assert_eq!(first["result"]["event"]["type"], "message_start");
    assert!(events.count() > 3);
}

#[tokio::test]
async fn a_prompt_may_be_content_blocks() {
    let mut client = Client::new();
    let blocks = json!([{"type": "text", "text": "SAY from a block"}]);
    client.call(1, "run", json!({ "prompt": blocks })).await;
    assert_eq!(client.until_result().await.last().unwrap()["result"]["result"], "from a block");
}

#[tokio::test]
async fn one_response_per_request_for_clients_that_want_it_so() {
    let mut client = Client::new();
    client.call(1, "run", json!({"prompt": "SAY hello", "delivery": "notifications"})).await;
    let heard = client.until_result().await;
    let (result, messages) = heard.split_last().unwrap();
    assert_eq!(result["result"]["result"], "hello");
    assert!(!messages.is_empty());
    for message in messages {
        assert_eq!(message["method"], "run/message");
        assert_eq!(message["params"]["run_id"], 1);
        assert!(message.get("id").is_none());
    }
    assert_eq!(messages.last().unwrap()["params"]["message"]["type"], "assistant");
}

#[tokio::test]
async fn one_run_at_a_time() {
    let mut client = Client::new();
    client.run(1, "DELAY 60000\nSAY late").await;
    client.hear().await;
    client.run(2, "SAY now").await;
    let refused = client.until(|line| line["id"] == 2).await.pop().unwrap();
    assert_eq!(refused["error"]["code"], -32001);
    assert_eq!(refused["error"]["data"]["run_id"], 1);
    client.call(3, "cancel", json!({})).await;
    client.until(|line| line["id"] == 1 && line.get("error").is_some()).await;
    client.run(4, "SAY now").await;
    assert_eq!(client.until_result().await.last().unwrap()["result"]["result"], "now");
}

#[tokio::test]
async fn a_started_run_finishes_after_the_end_of_input() {
    let mut client = Client::new();
    client.run(1, "SAY one\nTOOL Bash {\"command\": \"sleep 0.1\"}\nNEXT\nSAY two").await;
    let heard = client.finish().await;
    assert_eq!(heard.last().unwrap()["result"]["result"], "two");
}

#[tokio::test]
async fn status_names_the_run_and_its_session() {
    let mut client = Client::new();
    client.run("r", "DELAY 60000\nSAY late").await;
    let session = client.hear().await["result"]["session_id"].clone();
    client.call("s", "status", json!({})).await;
    let status = client.until(|line| line["id"] == "s").await.pop().unwrap();
    let expected = json!({"state": "running", "run_id": "r", "session_id": session});
    assert_eq!(status["result"], expected);
    client.stop.cancel();
    let rest = client.rest().await;
    assert!(rest.iter().all(|line: &Value| line["id"] == "r"), "{rest:?}");
}
