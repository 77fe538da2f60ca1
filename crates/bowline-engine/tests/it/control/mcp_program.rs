//! An MCP server that is a program: its elicitations, its prompts, its end.

use bowline_mcp::{NamedServer, Scope, read_text};
use serde_json::{Value, json};

use super::{hook, hook_inputs};
use crate::rig::{Rig, mcp_program, shapes};

/// A server with a tool that elicits input from the user, and a prompt.
const CASES: &str = r#"
    *'"method":"initialize"'*)
      answer "$id" '{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"asker","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer "$id" '{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"prompts/list"'*)
      answer "$id" '{"prompts":[{"name":"greet","description":"Greets"}]}' ;;
    *'"method":"prompts/get"'*)
      answer "$id" '{"messages":[{"role":"user","content":{"type":"text","text":"SAY ahoy"}}]}' ;;
    *'"method":"tools/call"'*)
      printf '{"jsonrpc":"2.0","id":99,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}\n'
      while IFS= read -r reply; do
        case "$reply" in *'"id":99'*) break ;; esac
      done
      case "$reply" in
        *'"Ada"'*) said=Ada ;;
        *decline*) said=declined ;;
        *) said=nothing ;;
      esac
      answer "$id" "{\"content\":[{\"type\":\"text\",\"text\":\"$said\"}]}" ;;"#;

fn asker() -> Vec<NamedServer> {
    let program = mcp_program(CASES);
    let config = json!({"mcpServers": {"asker": {"command": "bash", "args": ["-c", program]}}});
    read_text(&config.to_string(), None, Scope::Dynamic).servers
}

fn rig() -> Rig {
    Rig::with(|config| config.mcp_servers = asker())
}

const ASK: &str = "TOOL mcp__asker__ask {}\nNEXT\nSAY done";

fn answered(frames: &[Value]) -> &str {
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    result["message"]["content"][0]["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn server_prompts_are_commands_before_the_turn_begins() {
    let mut rig = rig();
    let frames = rig.run("SAY hi").await;
    assert_eq!(shapes(&frames)[..2], ["commands_changed", "init"]);
    let commands = frames[0]["commands"].as_array().unwrap();
    assert!(commands.iter().any(|command| command["name"] == "asker:greet (MCP)"));
    let listed = frames[1]["slash_commands"].as_array().unwrap();
    assert!(listed.contains(&json!("asker:greet (MCP)")));
    assert_eq!(frames[1]["mcp_servers"][0]["status"], "connected");
}

#[tokio::test]
async fn server_prompt_can_be_called_by_either_name() {
    let mut rig = rig();
    rig.run("SAY hi").await;
    for command in ["/mcp__asker__greet", "/asker:greet (MCP)"] {
        assert_eq!(rig.run(command).await.last().unwrap()["result"], "ahoy", "{command}");
    }
}

#[tokio::test]
async fn elicitation_reaches_the_host() {
    let mut rig = rig();
    rig.will_be_elicited(Some(json!({"action": "accept", "content": {"name": "Ada"}})));
    let frames = rig.run(ASK).await;
    let question = frames.iter().find(|frame| frame["type"] == "elicit").unwrap();
    assert_eq!(question["question"]["mcp_server_name"], "asker");
    assert_eq!(question["question"]["message"], "Who?");
    assert_eq!(answered(&frames), "Ada");
    assert_eq!(answered(&rig.run(ASK).await), "declined");
}

#[tokio::test]
async fn hook_may_respond_to_an_elicitation() {
    let mut rig = rig();
    let hooks = json!({
        "Elicitation": [{"hookCallbackIds": ["hook_0"]}],
        "ElicitationResult": [{"hookCallbackIds": ["hook_1"]}],
        "Notification": [{"hookCallbackIds": ["hook_2"]}],
    });
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.will_hook(json!({"hookSpecificOutput": {
        "hookEventName": "Elicitation", "action": "accept", "content": {"name": "Ada"},
    }}));
    let frames = rig.run(ASK).await;
    assert_eq!(answered(&frames), "Ada");
    assert!(!shapes(&frames).contains(&"elicit".to_owned()), "the host was not asked");
    assert_eq!(hook_inputs(&frames, "ElicitationResult")[0]["action"], "accept");
    let received = &hook_inputs(&frames, "Notification")[0];
    assert_eq!(received["notification_type"], "elicitation_response");
    assert!(received["message"].as_str().unwrap().ends_with(": accept"), "{received}");
}

#[tokio::test]
async fn server_can_be_reconnected() {
    let mut rig = rig();
    hook(&rig, "Stop").await;
    rig.run("SAY hi").await;
    let request = json!({"subtype": "mcp_reconnect", "serverName": "asker"});
    assert_eq!(rig.control(request).await, Ok(Value::Null));
    let status = rig.control(json!({"subtype": "mcp_status"})).await.unwrap();
    assert_eq!(status["mcpServers"][0]["status"], "connected");
    assert_eq!(status["mcpServers"][0]["tools"][0]["name"], "ask");
    rig.finish().await;
}

#[tokio::test]
async fn logins_are_for_servers_on_the_network() {
    let rig = Rig::new();
    let servers = json!({
        "program": {"command": "true"},
        "header": {"type": "http", "url": "http://127.0.0.1:9/", "headers": {"authorization": "x"}},
        "net": {"type": "http", "url": "http://127.0.0.1:9/"},
    });
    let set = json!({"subtype": "mcp_set_servers", "servers": servers});
    rig.control(set).await.unwrap();
    let ask = async |subtype: &str, server: &str| {
        let url = "http://localhost/callback?code=1&state=2";
        let request = json!({"subtype": subtype, "serverName": server, "callbackUrl": url});
        rig.control(request).await.unwrap_err()
    };
    for subtype in ["mcp_authenticate", "mcp_oauth_callback_url", "mcp_clear_auth"] {
        assert_eq!(ask(subtype, "nobody").await, "Server not found: nobody", "{subtype}");
    }
    let wrong = "Server type \"stdio\" does not support OAuth authentication";
    assert_eq!(ask("mcp_authenticate", "program").await, wrong);
    assert_eq!(ask("mcp_clear_auth", "program").await, wrong);
    let header = ask("mcp_authenticate", "header").await;
    assert!(header.contains("Authorization header"), "{header}");
    let none = "No active OAuth flow for server: net";
    assert_eq!(ask("mcp_oauth_callback_url", "net").await, none);
    let cleared = rig.control(json!({"subtype": "mcp_clear_auth", "serverName": "net"})).await;
    assert_eq!(cleared, Ok(json!({})), "no login existed, and none exists now");
}
