//! The tool `agent`: a whole session on a prompt.

use serde_json::{Value, json};

use crate::rig::{Client, text};

#[tokio::test]
async fn agent_call_returns_its_result_and_its_session() {
    let mut client = Client::new().await;
    let result = client.call("agent", json!({"prompt": "SAY hello"})).await;
    assert_eq!(text(&result), "hello");
    let structured = &result["structuredContent"];
    assert_eq!(structured["result"], "hello");
    assert_eq!(structured["is_error"], false);
    let session = structured["session_id"].as_str().unwrap();
    assert_eq!(result["content"][1]["text"], format!("session_id: {session}"));
}

#[tokio::test]
async fn agent_work_is_sent_as_progress() {
    let mut client = Client::new().await;
    let prompt = "SAY looking\nTOOL Bash {\"command\": \"echo hi\"}\nNEXT\nSAY done";
    let params = json!({
        "name": "agent", "arguments": {"prompt": prompt}, "_meta": {"progressToken": "p"},
    });
    let id = client.ask("tools/call", params).await;
    let mut heard: Vec<(f64, String)> = Vec::new();
    while heard.len() < 3 {
        let news = client.wait_for(|line| line["method"] == "notifications/progress").await;
        assert_eq!(news["params"]["progressToken"], "p");
        let message = news["params"]["message"].as_str().unwrap().to_owned();
        heard.push((news["params"]["progress"].as_f64().unwrap(), message));
    }
    assert_eq!(heard[0], (1.0, "looking".to_owned()));
    assert!(heard[1].1.starts_with("Bash ") && heard[1].0 > heard[0].0, "{heard:?}");
    assert_eq!(heard[2].1, "done");
    assert_eq!(text(&client.answer(id).await["result"]), "done");
}

#[tokio::test]
async fn permission_denials_of_an_agent_are_listed() {
    let mut client = Client::new().await;
    let prompt = "TOOL Bash {\"command\": \"touch made.txt\"}\nNEXT\nSAY done";
    let result = client.call("agent", json!({ "prompt": prompt })).await;
    let denials = &result["structuredContent"]["permission_denials"];
    assert_eq!(denials[0]["tool_name"], "Bash");
    assert!(!client.path().join("made.txt").exists());
}

#[tokio::test]
async fn mistakes_are_answers() {
    let mut client = Client::new().await;
    let cases = [
        (json!({}), "prompt"),
        (json!({"prompt": "x", "model": "y"}), "model"),
        (json!({"prompt": "x", "session_id": "none"}), "there is no session none"),
        (json!({"prompt": "ERROR 400"}), "API Error"),
    ];
    for (arguments, expected) in cases {
        let result: Value = client.call("agent", arguments.clone()).await;
        assert_eq!(result["isError"], true, "{arguments}: {result}");
        assert!(text(&result).contains(expected), "{arguments}: {result}");
    }
}
