//! Permission decisions: by the rules first, then by the client if it can be asked.

use std::time::Duration;

use bowline_engine::{PermissionPrompts, SessionConfig};
use serde_json::{Value, json};

use crate::rig::{Client, allow, line_in, text};

fn touch() -> Value {
    json!({"command": "touch made.txt"})
}

/// A client that can be asked.
async fn person() -> Client {
    Client::with(json!({"elicitation": {}}), |_| {}).await
}

/// Calls Bash; returns the call's id and the question about it.
async fn asked(client: &mut Client) -> (u64, Value) {
    let id = client.ask("tools/call", json!({"name": "Bash", "arguments": touch()})).await;
    let question = client.wait_for(|line| line["method"] == "elicitation/create").await;
    (id, question)
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_means_no() {
    let mut client = Client::new().await;
    let result = client.call("Bash", touch()).await;
    assert_eq!(result["isError"], true);
    assert!(!client.path().join("made.txt").exists());
}

/// Asks the agent for that call; the tool that it was not allowed to use.
async fn denied_to_an_agent(client: &mut Client) -> Value {
    let prompt = format!("TOOL Bash {}\nNEXT\nSAY done", touch());
    let mut worked = client.call("agent", json!({ "prompt": prompt })).await;
    worked["structuredContent"]["permission_denials"][0]["tool_name"].take()
}

#[tokio::test]
async fn a_client_that_is_not_to_be_asked_is_not() {
    let other = |config: &mut SessionConfig| {
        config.permission_prompts = PermissionPrompts::McpTool("mcp__other__decide".to_owned());
    };
    let off = |config: &mut SessionConfig| config.permission_prompts = PermissionPrompts::Disabled;
    for settings in [other, off] {
        let mut client = Client::with(json!({"elicitation": {}}), settings).await;
        assert_eq!(client.call("Bash", touch()).await["isError"], true);
        assert_eq!(denied_to_an_agent(&mut client).await, "Bash");
        assert!(!client.path().join("made.txt").exists());
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_nobody_whatever_the_settings_say() {
    let host = |config: &mut SessionConfig| config.permission_prompts = PermissionPrompts::Host;
    let mut client = Client::with(json!({}), host).await;
    let refused = client.call("Bash", touch()).await;
    // The rules' own words: a client that was asked in vain would have left others.
    assert!(text(&refused).contains("needs approval"), "{refused}");
    assert_eq!(denied_to_an_agent(&mut client).await, "Bash");
    assert!(!client.path().join("made.txt").exists());
}

#[tokio::test]
async fn rules_are_honored() {
    let mut client = Client::with(json!({}), |config| allow(config, "Bash(touch *)")).await;
    assert_eq!(client.call("Bash", touch()).await["isError"], false);
    assert!(client.path().join("made.txt").exists());
    let result = client.call("Bash", json!({"command": "mkdir other"})).await;
    assert_eq!(result["isError"], true);
}

#[tokio::test]
async fn a_client_that_can_be_asked_decides() {
    let mut client = person().await;
    let (id, question) = asked(&mut client).await;
    let params = &question["params"];
    assert!(params["message"].as_str().unwrap().contains("touch made.txt"), "{question}");
    let choices = &params["requestedSchema"]["properties"]["decision"]["enum"];
    assert_eq!(choices, &json!(["allow", "deny"]));
    let yes = json!({"action": "accept", "content": {"decision": "allow"}});
    client.say(json!({"jsonrpc": "2.0", "id": question["id"], "result": yes})).await;
    assert_eq!(client.answer(id).await["result"]["isError"], false);
    assert!(client.path().join("made.txt").exists());
}

#[tokio::test]
async fn whatever_is_no_clear_yes_is_a_no() {
    let answers = [
        json!({"result": {"action": "decline"}}),
        json!({"result": {"action": "cancel"}}),
        json!({"result": {"action": "accept", "content": {"decision": "deny"}}}),
        json!({"result": {"action": "accept", "content": {}}}),
        json!({"error": {"code": -32603, "message": "broken"}}),
        json!({"error": "broken"}),
        json!({"error": null}),
        json!({"result": {"action": "accept"}, "error": {"code": 1, "message": "broken"}}),
    ];
    for mut answer in answers {
        let mut client = person().await;
        let (id, question) = asked(&mut client).await;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = question["id"].clone();
        client.say(&answer).await;
        // The very next answer: an answer of the client has none.
        let result = client.wait_for(|line| line.get("method").is_none()).await;
        assert_eq!(result["id"], id, "{answer} {result}");
        assert_eq!(result["result"]["isError"], true, "{answer} {result}");
        assert!(!client.path().join("made.txt").exists(), "{answer}");
    }
}

/// What a request of the newest version says about itself.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    })
}

#[tokio::test]
async fn newer_clients_are_asked_by_a_result_and_answer_with_another_request() {
    let mut client = Client::silent(|_| {});
    let discovered = client.request("server/discover", json!({"_meta": meta()})).await;
    assert!(discovered["result"].is_object(), "{discovered}");
    let mut params = json!({"name": "Bash", "arguments": touch(), "_meta": meta()});
    let first = client.request("tools/call", params.clone()).await;
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    assert!(!client.path().join("made.txt").exists());
    let ticket = first["result"]["requestState"].clone();
    assert_eq!(first["result"]["inputRequests"]["permission"]["method"], "elicitation/create");

    // An answer that cannot be read leaves the question open.
    params["requestState"] = ticket.clone();
    params["inputResponses"] = json!({"permission": {"action": "perhaps"}});
    let unclear = client.request("tools/call", params.clone()).await;
    assert_eq!(unclear["error"]["code"], -32602, "{unclear}");

    params["inputResponses"] =
        json!({"permission": {"action": "accept", "content": {"decision": "allow"}}});
    let second = client.request("tools/call", params.clone()).await;
    assert_eq!(second["result"]["isError"], false, "{second}");
    assert!(client.path().join("made.txt").exists());

    // The same answer again finds no call, so nothing runs twice.
    std::fs::remove_file(client.path().join("made.txt")).unwrap();
    let third = client.request("tools/call", params).await;
    assert_eq!(third["error"]["code"], -32602, "{third}");
    assert!(!client.path().join("made.txt").exists());
}

#[tokio::test]
async fn open_questions_keep_no_other_call_waiting() {
    let mut client = person().await;
    // More than are worked on at once.
    for _ in 0..70 {
        asked(&mut client).await;
    }
    let echo = client.call("Bash", json!({"command": "echo on"})).await;
    assert_eq!(text(&echo), "on");
}

#[tokio::test]
async fn a_call_permitted_for_one_directory_does_not_run_in_another() {
    let ability = json!({"elicitation": {}});
    let mut client = Client::with(ability, |config| allow(config, "Bash(cd *)")).await;
    std::fs::create_dir(client.path().join("inner")).unwrap();
    let (id, question) = asked(&mut client).await;
    client.call("Bash", json!({"command": "cd inner"})).await;
    let yes = json!({"action": "accept", "content": {"decision": "allow"}});
    client.say(json!({"jsonrpc": "2.0", "id": question["id"], "result": yes})).await;
    let result = client.answer(id).await["result"].take();
    assert!(text(&result).contains("changed the working directory"), "{result}");
    assert!(!client.path().join("inner/made.txt").exists());
}

/// Answers a question with no.
async fn decline(client: &mut Client, question: &Value) {
    let no = json!({"action": "decline"});
    client.say(json!({"jsonrpc": "2.0", "id": question["id"], "result": no})).await;
}

#[tokio::test]
async fn a_no_is_a_no_in_every_directory() {
    let ability = json!({"elicitation": {}});
    let mut client = Client::with(ability, |config| allow(config, "Bash(cd *)")).await;
    std::fs::create_dir(client.path().join("inner")).unwrap();
    let (id, question) = asked(&mut client).await;
    client.call("Bash", json!({"command": "cd inner"})).await;
    decline(&mut client, &question).await;
    let result = client.answer(id).await["result"].take();
    assert_eq!((text(&result), &result["isError"]), ("The user denied this", &json!(true)));
}

#[tokio::test]
async fn a_no_does_not_wait_for_another_call() {
    let ability = json!({"elicitation": {}});
    let mut client = Client::with(ability, |config| allow(config, "Bash(sh *)")).await;
    // The other ends when we have heard of the no.
    let wait = "echo on > begun; until [ -e go ]; do sleep 0.01; done";
    std::fs::write(client.path().join("wait.sh"), wait).unwrap();
    let (id, question) = asked(&mut client).await;
    let params = json!({"name": "Bash", "arguments": {"command": "sh wait.sh"}});
    let other = client.ask("tools/call", params).await;
    line_in(&client.path().join("begun")).await;
    decline(&mut client, &question).await;
    assert_eq!(client.answer(id).await["result"]["isError"], true);
    std::fs::write(client.path().join("go"), "").unwrap();
    assert_eq!(client.answer(other).await["result"]["isError"], false);
}

#[tokio::test]
async fn a_question_is_withdrawn_with_its_call() {
    let mut client = person().await;
    let (id, question) = asked(&mut client).await;
    let cancelled = json!({"requestId": id});
    client
        .say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}))
        .await;
    let withdrawn = client.wait_for(|line| line["method"] == "notifications/cancelled").await;
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    assert!(!client.path().join("made.txt").exists());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_thinks_hears_that_its_call_is_alive() {
    let mut client = person().await;
    let meta = json!({"progressToken": 7});
    let params = json!({"name": "Bash", "arguments": touch(), "_meta": meta});
    let id = client.ask("tools/call", params).await;
    let question = client.wait_for(|line| line["method"] == "elicitation/create").await;
    let alive = client.wait_for(|line| line["method"] == "notifications/progress").await;
    assert_eq!(alive["params"]["message"], "Bash has been waiting for approval for 10 s");
    decline(&mut client, &question).await;
    assert_eq!(client.answer(id).await["result"]["isError"], true);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_client_does_not_answer_ends() {
    let mut client = Client::silent(|_| {});
    client.request("server/discover", json!({"_meta": meta()})).await;
    let mut params = json!({"name": "Bash", "arguments": touch(), "_meta": meta()});
    let first = client.request("tools/call", params.clone()).await;
    tokio::time::sleep(Duration::from_secs(31 * 60)).await;
    params["requestState"] = first["result"]["requestState"].clone();
    params["inputResponses"] =
        json!({"permission": {"action": "accept", "content": {"decision": "allow"}}});
    let late = client.request("tools/call", params).await;
    assert_eq!(late["result"]["isError"], true, "{late}");
    assert!(!client.path().join("made.txt").exists());
}

#[tokio::test]
async fn a_question_of_an_agent_reaches_the_client_too() {
    let mut client = person().await;
    let prompt = format!("TOOL Bash {}\nNEXT\nSAY done", touch());
    let params = json!({"name": "agent", "arguments": {"prompt": prompt}});
    let id = client.ask("tools/call", params).await;
    let question = client.wait_for(|line| line["method"] == "elicitation/create").await;
    let yes = json!({"action": "accept", "content": {"decision": "allow"}});
    client.say(json!({"jsonrpc": "2.0", "id": question["id"], "result": yes})).await;
    assert_eq!(text(&client.answer(id).await["result"]), "done");
    assert!(client.path().join("made.txt").exists());
}
