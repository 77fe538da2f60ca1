//! Calls of the tools: results, mistakes, limits.

use serde_json::json;

use crate::rig::{Client, allow, text};

#[tokio::test]
async fn a_result_is_for_models_and_for_programs() {
    let mut client = Client::new().await;
    let path = client.path().join("a.txt");
    std::fs::write(&path, "hello\n").unwrap();
    let result = client.call("Read", json!({"file_path": path})).await;
    assert!(text(&result).contains("hello"), "{result}");
    assert_eq!(result["structuredContent"]["file"]["content"], "hello\n");
    assert_eq!(result["isError"], false);
}

#[tokio::test]
async fn a_mistake_in_the_input_is_an_answer() {
    let mut client = Client::new().await;
    let result = client.call("Read", json!({"path": "x"})).await;
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("`file_path` is missing"), "{result}");
    let result = client.call("Read", json!({"file_path": "/no/such/file"})).await;
    assert_eq!(result["isError"], true);
}

#[tokio::test]
async fn a_tool_that_does_not_exist_is_an_error() {
    let mut client = Client::new().await;
    for name in ["NoSuchTool", "ExitPlanMode"] {
        let refused = client.request("tools/call", json!({"name": name, "arguments": {}})).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(name));
    }
}

#[tokio::test]
async fn output_is_capped() {
    let mut client = Client::with(json!({}), |config| allow(config, "Bash")).await;
    let command = "head -c 5000000 /dev/zero | tr '\\0' x";
    let result = client.call("Bash", json!({ "command": command })).await;
    assert!(result.to_string().len() < 250_000, "{}", result.to_string().len());
    assert!(text(&result).contains("xxx"));
}

#[tokio::test]
async fn the_working_directory_is_kept_between_calls() {
    let mut client = Client::with(json!({}), |config| allow(config, "Bash")).await;
    std::fs::create_dir(client.path().join("inner")).unwrap();
    client.call("Bash", json!({"command": "cd inner"})).await;
    let result = client.call("Bash", json!({"command": "pwd"})).await;
    assert!(text(&result).ends_with("/inner"), "{result}");
}

#[tokio::test]
async fn there_is_room_for_so_many_calls_and_no_more() {
    // Nobody answers a question, so that every call waits.
    let mut client = Client::with(json!({"elicitation": {}}), |_| {}).await;
    let call = json!({"name": "Bash", "arguments": {"command": "touch made.txt"}});
    for _ in 0..64 + 256 + 1 {
        client.ask("tools/call", call.clone()).await;
    }
    let refused = client.wait_for(|line| line.get("error").is_some()).await;
    assert_eq!(refused["error"]["message"], "too many requests are in flight");
    // The server still listens.
    let listed = client.request("tools/list", json!({})).await;
    assert!(listed["result"]["tools"].is_array());
    client.hang_up().await.unwrap();
}
