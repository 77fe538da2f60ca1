//! Permission requests of the engine, passed on to the client.

use serde_json::{Value, json};

use crate::rig::Client;

async fn asked(client: &mut Client) -> Value {
    let call = json!({"command": "touch made.txt"});
    client.run("r", &format!("TOOL Bash {call}\nNEXT\nSAY done")).await;
    client.until(|line| line["method"] == "permission/request").await.pop().unwrap()
}

async fn answer(client: &mut Client, question: &Value, field: &str, value: Value) -> Vec<Value> {
    client.say(json!({"jsonrpc": "2.0", "id": question["id"], field: value})).await;
    client.until_result().await
}

#[tokio::test]
async fn the_client_decides() {
    let mut client = Client::new();
    let question = asked(&mut client).await;
    assert_eq!(question["params"]["tool_name"], "Bash");
    assert_eq!(question["params"]["input"]["command"], "touch made.txt");
    assert_eq!(question["params"]["run_id"], "r");
    client.call("s", "status", json!({})).await;
    let status = client.until(|line| line["id"] == "s").await.pop().unwrap();
    assert_eq!(status["result"]["state"], "waiting");
    let heard = answer(&mut client, &question, "result", json!({"behavior": "allow"})).await;
    assert_eq!(heard.last().unwrap()["result"]["result"], "done");
    assert!(client.path().join("made.txt").exists());
}

#[tokio::test]
async fn whatever_is_no_clear_yes_is_a_no() {
    let cases = [
        ("result", json!({"behavior": "deny", "message": "not today"}), "not today"),
        ("result", json!({"behavior": "perhaps"}), "invalid permission result"),
        ("result", json!(null), "invalid permission result"),
        ("error", json!({"code": -32601, "message": "no such method"}), "no such method"),
    ];
    for (field, value, text) in cases {
        let mut client = Client::new();
        let question = asked(&mut client).await;
        let heard = answer(&mut client, &question, field, value).await;
        let result = heard.last().unwrap();
        assert_eq!(result["result"]["permission_denials"][0]["tool_name"], "Bash", "{heard:?}");
        assert!(json!(heard).to_string().contains(text), "{text}: {heard:?}");
        assert!(!client.path().join("made.txt").exists());
    }
}

#[tokio::test]
async fn an_answer_that_is_none_does_not_leave_the_question_open() {
    let mut client = Client::new();
    let question = asked(&mut client).await;
    client.say(json!({"jsonrpc": "2.0", "id": question["id"]})).await;
    let refused = client.hear().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&question["id"], &json!(-32600)));
    let heard = client.until_result().await;
    assert_eq!(heard.last().unwrap()["result"]["permission_denials"][0]["tool_name"], "Bash");
    assert!(!client.path().join("made.txt").exists());
}

#[tokio::test]
async fn nobody_is_left_to_ask_when_the_input_has_ended() {
    let mut client = Client::new();
    asked(&mut client).await;
    let heard = client.finish().await;
    let result = &heard.last().unwrap()["result"];
    assert_eq!(result["permission_denials"].as_array().unwrap().len(), 1);
    assert_eq!(result["result"], "done");
}

#[tokio::test]
async fn a_question_is_withdrawn_with_its_run() {
    let mut client = Client::new();
    let question = asked(&mut client).await;
    client.call("c", "cancel", json!({})).await;
    let heard = client.until(|line| line["error"]["code"] == -32003).await;
    let withdrawn = heard.iter().find(|line| line["method"] == "permission/cancelled").unwrap();
    assert_eq!(withdrawn["params"]["id"], question["id"]);
    assert!(withdrawn.get("id").is_none());
}

#[tokio::test]
async fn an_answer_that_comes_too_late_changes_nothing() {
    let mut client = Client::new();
    let question = asked(&mut client).await;
    client.call("c", "cancel", json!({})).await;
    client.until(|line| line["error"]["code"] == -32003).await;
    client
        .say(json!({"jsonrpc": "2.0", "id": question["id"], "result": {"behavior": "allow"}}))
        .await;
    client.run(2, "SAY next").await;
    assert_eq!(client.until_result().await.last().unwrap()["result"]["result"], "next");
    assert!(!client.path().join("made.txt").exists());
}

#[tokio::test]
async fn answers_to_nothing_are_ignored() {
    let mut client = Client::new();
    client.say(json!({"jsonrpc": "2.0", "id": "bowline-9", "result": {}})).await;
    client.run(1, "SAY hello").await;
    assert_eq!(client.until_result().await.last().unwrap()["result"]["result"], "hello");
}
