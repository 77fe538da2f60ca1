//! JSON-RPC itself: errors, batches, notifications.

use serde_json::{Value, json};

use crate::rig::Client;

async fn code_of(line: &str) -> (Value, Value) {
    let mut client = Client::new();
    client.say(line).await;
    let answer = client.hear().await;
    assert_eq!(answer["jsonrpc"], "2.0");
    (answer["id"].clone(), answer["error"]["code"].clone())
}

#[tokio::test]
async fn every_mistake_has_its_code() {
    let call = |method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
    };
    let cases = [
        ("{oops".to_owned(), Value::Null, -32700),
        ("[]".to_owned(), Value::Null, -32600),
        ("{}".to_owned(), Value::Null, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"run","params":"x"}"#.to_owned(), json!(1), -32600),
        (call("fly", json!({})), json!(1), -32601),
        (call("run", json!({})), json!(1), -32602),
        (call("run", json!({"prompt": 7})), json!(1), -32602),
        (call("run", json!({"prompt": " "})), json!(1), -32602),
        (call("run", json!({"prompt": []})), json!(1), -32602),
        (call("run", json!({"prompt": "x", "promt": "y"})), json!(1), -32602),
        (call("run", json!({"prompt": "x", "session_id": "none"})), json!(1), -32602),
        (call("cancel", json!({})), json!(1), -32002),
    ];
    for (line, id, code) in cases {
        assert_eq!(code_of(&line).await, (id, json!(code)), "{line}");
    }
}

#[tokio::test]
async fn the_door_goes_on_behind_a_mistake() {
    let mut client = Client::new();
    client.say("{oops").await;
    client.call(1, "status", json!({})).await;
    assert_eq!(client.hear().await["error"]["code"], -32700);
    assert_eq!(client.hear().await["result"]["state"], "idle");
}

#[tokio::test]
async fn notifications_are_not_answered() {
    let mut client = Client::new();
    client.say(json!({"jsonrpc": "2.0", "method": "fly"})).await;
    client.say(json!({"jsonrpc": "2.0", "method": "cancel"})).await;
    client.say(json!([{"jsonrpc": "2.0", "method": "status"}])).await;
    client.call("last", "status", json!({})).await;
    assert_eq!(client.hear().await["id"], "last");
}

#[tokio::test]
async fn a_notification_can_begin_a_run() {
    let mut client = Client::new();
    let write = json!({"file_path": client.path().join("x"), "content": "y"});
    let prompt = format!("TOOL Write {write}\nNEXT\nSAY done");
    client.say(json!({"jsonrpc": "2.0", "method": "run", "params": {"prompt": prompt}})).await;
    let question = client.hear().await;
    assert_eq!(question["method"], "permission/request");
    let answer = json!({"behavior": "allow"});
    client.say(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;
    let folder = client.folder();
    assert_eq!(client.finish().await, Vec::<Value>::new());
    assert!(folder.path().join("x").exists());
}

#[tokio::test]
async fn a_batch_is_answered_together_and_a_run_in_it_last() {
    let mut client = Client::new();
    client
        .say(json!([
            {"jsonrpc": "2.0", "id": "r", "method": "run", "params": ["SAY hello"]},
            {"jsonrpc": "2.0", "id": "again", "method": "run", "params": ["SAY hello"]},
            {"jsonrpc": "2.0", "id": "s", "method": "status"},
            7,
        ]))
        .await;
    let heard = client.until(Value::is_array).await;
    let batch = heard.last().unwrap().as_array().unwrap();
    let ids: Vec<_> = batch.iter().map(|response| &response["id"]).collect();
    assert_eq!(ids, [&json!("again"), &json!("s"), &Value::Null, &json!("r")]);
    assert_eq!(batch[0]["error"]["code"], -32001);
    assert_eq!(batch[1]["result"]["state"], "running");
    assert_eq!(batch[2]["error"]["code"], -32600);
    assert_eq!(batch[3]["result"]["result"], "hello");
    assert!(heard[..heard.len() - 1].iter().all(|line| line["id"] == "r"), "{heard:?}");
}

#[tokio::test]
async fn every_kind_of_id_comes_back_as_it_was() {
    let mut client = Client::new();
    for id in [json!(0), json!(-7), json!(1.5), json!(u64::MAX), json!(""), json!("é"), json!(null)]
    {
        client.call(id.clone(), "status", json!({})).await;
        assert_eq!(client.hear().await["id"], id);
    }
    // What no id may be cannot be repeated.
    for id in [json!(true), json!([1]), json!({"a": 1})] {
        client.call(id.clone(), "status", json!({})).await;
        let refused = client.hear().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32600)));
    }
}

#[tokio::test]
async fn a_batch_of_notifications_is_not_answered_and_one_of_nonsense_is() {
    let mut client = Client::new();
    let note = json!({"jsonrpc": "2.0", "method": "status"});
    client.say(json!([note, note])).await;
    client.say(json!([1, [], note])).await;
    let batch = client.hear().await;
    let codes: Vec<_> = batch.as_array().unwrap().iter().map(|it| &it["error"]["code"]).collect();
    assert_eq!(codes, [&json!(-32600), &json!(-32600)]);
}
