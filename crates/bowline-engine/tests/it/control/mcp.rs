//! MCP servers inside the host.

use bowline_protocol::HostRequest;
use serde_json::{Value, json};

use crate::rig::{Reply, Rig, shapes, text};

/// A server with two tools, and no other server.
fn calc(server: &str, message: &Value) -> Reply {
    let id = message["id"].clone();
    let answer = |result: Value| Ok(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    if server != "calc" {
        let error = json!({"code": -32601, "message": format!("Server '{server}' not found")});
        return Ok(json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => answer(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "calc", "version": "1.0.0"},
        })),
        "tools/list" => answer(json!({"tools": [
            {"name": "add", "description": "Adds", "inputSchema": {"type": "object"}},
            {"name": "bad", "description": "Fails", "inputSchema": {"type": "object"}},
        ]})),
        "tools/call" => match message["params"]["name"].as_str().unwrap_or_default() {
            "add" => answer(json!({"content": [{"type": "text", "text": "three"}]})),
            _ => {
                answer(json!({"content": [{"type": "text", "text": "it failed"}], "isError": true}))
            }
        },
        "resources/read" => answer(json!({"contents": [{"uri": "ui://x", "text": "a page"}]})),
        _ => answer(json!({})),
    }
}

fn methods(frames: &[Value]) -> Vec<&str> {
    let messages = frames.iter().filter(|frame| frame["type"] == "mcp_message");
    messages.filter_map(|frame| frame["call"]["message"]["method"].as_str()).collect()
}

/// A session whose host has the server.
async fn with_calc() -> Rig {
    let rig = Rig::new();
    rig.serves(calc);
    rig.control(json!({"subtype": "initialize", "sdkMcpServers": ["calc"]})).await.unwrap();
    rig
}

/// A session in which the server is connected.
async fn connected() -> Rig {
    let mut rig = with_calc().await;
    rig.run("SAY hi").await;
    rig
}

#[tokio::test]
async fn server_is_initialized_before_the_response_and_listed_after_it() {
    let mut rig = Rig::new();
    rig.serves(calc);
    let request = r#"{"subtype":"initialize","sdkMcpServers":["calc"]}"#;
    let reply = rig.session.control(HostRequest::parse(request).unwrap()).await;
    assert_eq!(methods(&rig.received()), ["initialize"]);
    reply.delivered().await;
    rig.will_permit(json!({"behavior": "allow"}));
    let frames = rig.run("TOOL mcp__calc__add {\"a\": 1}\nNEXT\nSAY done").await;
    assert_eq!(methods(&frames), ["notifications/initialized", "tools/list", "tools/call"]);
    let init = frames.iter().find(|frame| frame["subtype"] == "init").unwrap();
    assert_eq!(
        init["mcp_servers"],
        json!([{"name": "calc", "status": "connected", "source": "sdk"}])
    );
    assert!(init["tools"].as_array().unwrap().contains(&json!("mcp__calc__add")));
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(result["message"]["content"][0]["content"][0]["text"], "three");
}

#[tokio::test]
async fn a_server_that_the_host_does_not_have_fails_alone() {
    let mut rig = Rig::new();
    rig.serves(calc);
    rig.control(json!({"subtype": "initialize", "sdkMcpServers": ["ghost"]})).await.unwrap();
    let frames = rig.run("SAY hi").await;
    assert_eq!(frames.last().unwrap()["result"], "hi");
    let status = rig.control(json!({"subtype": "mcp_status"})).await.unwrap();
    assert_eq!(status["mcpServers"][0]["name"], "ghost");
    assert_eq!(status["mcpServers"][0]["status"], "failed");
}

#[tokio::test]
async fn a_subagent_has_what_one_list_gives_it_and_the_other_does_not_take_away() {
    let mut rig = Rig::new();
    rig.serves(calc);
    let adder = json!({
        "description": "adds", "prompt": "You add.",
        "tools": ["mcp__calc"], "disallowedTools": ["mcp__calc__bad"],
    });
    let request =
        json!({"subtype": "initialize", "sdkMcpServers": ["calc"], "agents": {"adder": adder}});
    rig.control(request).await.unwrap();
    let calls = "TOOL mcp__calc__bad {}\nTOOL mcp__calc__add {}\nTOOL Read {}\nNEXT\nSAY x";
    let input = json!({
        "description": "sum", "prompt": calls, "subagent_type": "adder", "run_in_background": false,
    });
    let frames = rig.run(&format!("TOOL Agent {input}\nNEXT\nSAY done")).await;
    let inner = frames.iter().filter(|frame| !frame["parent_tool_use_id"].is_null());
    let results: Vec<_> = inner
        .filter_map(|frame| frame["message"]["content"].as_array())
        .flatten()
        .filter(|block| block["type"] == "tool_result")
        .map(|block| block["content"].to_string())
        .collect();
    let says = |what: &str| results.iter().filter(|result| result.contains(what)).count();
    assert_eq!(says("No such tool available: mcp__calc__bad"), 1, "{results:?}");
    assert_eq!(says("No such tool available: Read"), 1, "{results:?}");
    assert_eq!(says("three"), 1, "{results:?}");
    assert_eq!(methods(&frames).iter().filter(|method| **method == "tools/call").count(), 1);
}

#[tokio::test]
async fn an_agent_chosen_for_the_conversation_has_what_its_lists_give_it() {
    let mut rig = Rig::with(|config| config.agent = Some("adder".to_owned()));
    rig.serves(calc);
    let adder = json!({
        "description": "adds", "prompt": "You add.",
        "tools": ["mcp__calc__*", "Read"], "disallowedTools": ["mcp__calc__bad"],
    });
    let request =
        json!({"subtype": "initialize", "sdkMcpServers": ["calc"], "agents": {"adder": adder}});
    rig.control(request).await.unwrap();
    let frames = rig.run("TOOL mcp__calc__bad {}\nNEXT\nSAY done").await;
    let init = frames.iter().find(|frame| frame["subtype"] == "init").unwrap();
    assert_eq!(init["tools"], json!(["Read", "mcp__calc__add"]));
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert!(text(result).contains("No such tool available: mcp__calc__bad"), "{result}");
}

#[tokio::test]
async fn servers_come_and_go() {
    let mut rig = Rig::new();
    rig.serves(calc);
    let set = |servers: Value| json!({"subtype": "mcp_set_servers", "servers": servers});
    let servers = json!({
        "calc": {"type": "sdk", "name": "calc"},
        "broken": {"type": "stdio", "command": "/nonexistent/server"},
    });
    let answer = rig.control(set(servers)).await.unwrap();
    assert_eq!(answer["added"], json!(["calc", "broken"]));
    assert_eq!(answer["errors"].as_object().unwrap().keys().collect::<Vec<_>>(), ["broken"]);
    let frames = rig.run("SAY hi").await;
    let init = frames.iter().find(|frame| frame["subtype"] == "init").unwrap();
    assert!(init["tools"].as_array().unwrap().contains(&json!("mcp__calc__add")));
    let answer = rig.control(set(json!({}))).await.unwrap();
    assert_eq!(answer, json!({"added": [], "removed": ["calc", "broken"], "errors": {}}));
    assert_eq!(rig.control(json!({"subtype": "mcp_status"})).await, Ok(json!({"mcpServers": []})));
    let frames = rig.run("TOOL mcp__calc__add {}\nNEXT\nSAY done").await;
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert!(text(result).contains("No such tool available: mcp__calc__add"), "{}", text(result));
}

#[tokio::test]
async fn a_server_can_be_switched_off_and_on() {
    let mut rig = connected().await;
    let toggle =
        |enabled: bool| json!({"subtype": "mcp_toggle", "serverName": "calc", "enabled": enabled});
    assert_eq!(rig.control(toggle(false)).await, Ok(Value::Null));
    let frames = rig.run("SAY off").await;
    assert!(!frames[0]["tools"].as_array().unwrap().contains(&json!("mcp__calc__add")));
    assert_eq!(rig.control(toggle(true)).await, Ok(Value::Null));
    let frames = rig.run("SAY on").await;
    assert_eq!(methods(&frames), ["initialize", "notifications/initialized", "tools/list"]);
    let init = frames.iter().find(|frame| frame["subtype"] == "init").unwrap();
    assert!(init["tools"].as_array().unwrap().contains(&json!("mcp__calc__add")));
    let unknown = json!({"subtype": "mcp_toggle", "serverName": "x", "enabled": true});
    assert_eq!(rig.control(unknown).await, Err("Server not found: x".to_owned()));
    let unknown = json!({"subtype": "mcp_reconnect", "serverName": "x"});
    assert_eq!(rig.control(unknown).await, Err("Server not found: x".to_owned()));
    let own = json!({"subtype": "mcp_reconnect", "serverName": "calc"});
    assert!(rig.control(own).await.is_err(), "only the host can do that");
}

#[tokio::test]
async fn the_host_can_call_a_tool_itself() {
    let rig = connected().await;
    let call = |tool: &str| json!({"subtype": "mcp_call", "tool": tool, "arguments": {}});
    let answer = rig.control(call("mcp__calc__add")).await;
    assert_eq!(answer, Ok(json!({"content": [{"type": "text", "text": "three"}]})));
    assert_eq!(rig.control(call("mcp__calc__bad")).await, Err("it failed".to_owned()));
    let error = rig.control(call("mcp__ghost__x")).await.unwrap_err();
    assert!(error.starts_with("MCP server not connected"), "{error}");
    let mut checked = call("mcp__calc__add");
    checked["check_permissions"] = json!(true);
    assert!(rig.control(checked.clone()).await.is_err(), "no rule allows it");
    let settings = json!({"permissions": {"allow": ["mcp__calc__add"]}});
    rig.control(json!({"subtype": "apply_flag_settings", "settings": settings})).await.unwrap();
    assert!(rig.control(checked).await.is_ok());
    let mut late = call("mcp__calc__add");
    late["expires_at"] = json!(1);
    assert_eq!(rig.control(late).await, Err("the call has expired".to_owned()));
}

#[tokio::test]
async fn a_resource_can_be_read() {
    let rig = connected().await;
    let request = json!({"subtype": "mcp_read_resource", "serverName": "calc", "uri": "ui://x"});
    let answer = rig.control(request).await.unwrap();
    assert_eq!(answer["contents"][0]["text"], "a page");
    let unknown = json!({"subtype": "mcp_read_resource", "serverName": "x", "uri": "ui://x"});
    assert_eq!(rig.control(unknown).await, Err("Server not found: x".to_owned()));
}

#[tokio::test]
async fn tools_are_listed_again_when_they_change() {
    let mut rig = connected().await;
    rig.received();
    let message = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let request = json!({"subtype": "mcp_message", "server_name": "calc", "message": message});
    assert_eq!(rig.control(request).await, Ok(Value::Null));
    assert_eq!(methods(&rig.until(|frame| frame["type"] == "mcp_message").await), ["tools/list"]);
    let unknown = json!({"subtype": "mcp_message", "server_name": "x", "message": message});
    assert_eq!(rig.control(unknown).await, Ok(Value::Null), "it may have just gone");
}

#[tokio::test]
async fn tool_policies_of_the_host_apply() {
    let mut rig = Rig::new();
    rig.serves(calc);
    let configs = json!({"calc": {"tools": [{"name": "bad", "permission_policy": "always_deny"}]}});
    let request =
        json!({"subtype": "initialize", "sdkMcpServers": ["calc"], "sdkMcpServerConfigs": configs});
    rig.control(request).await.unwrap();
    let frames = rig.run("TOOL mcp__calc__bad {}\nNEXT\nSAY done").await;
    assert!(!methods(&frames).contains(&"tools/call"));
    assert!(!shapes(&frames).contains(&"can_use_tool".to_owned()), "there is nothing to ask");
}

#[tokio::test]
async fn one_server_can_be_treated_more_strictly() {
    let mut rig = connected().await;
    rig.session.interrupt();
    let mode = |server: &str, mode: Value| json!({"subtype": "set_mcp_permission_mode_override", "serverName": server, "mode": mode});
    let answer = rig.control(mode("calc", json!("auto"))).await.unwrap();
    assert!(answer["warning"].is_string());
    let frames = rig.run("TOOL mcp__calc__add {}\nNEXT\nSAY done").await;
    assert!(!methods(&frames).contains(&"tools/call"), "nothing classifies it");
    assert_eq!(rig.control(mode("calc", Value::Null)).await, Ok(json!({})));
    let frames = rig.run("TOOL mcp__calc__add {}\nNEXT\nSAY done").await;
    assert!(methods(&frames).contains(&"tools/call"), "the host was asked and allowed it");
    assert!(rig.control(mode("calc", json!("plan"))).await.is_err());
    let unknown = rig.control(mode("x", json!("default"))).await.unwrap();
    assert!(unknown["warning"].as_str().unwrap().contains("not yet known"), "{unknown}");
    assert_eq!(rig.control(mode("x", Value::Null)).await, Ok(json!({})), "it was there to clear");
    let nothing = rig.control(mode("x", Value::Null)).await.unwrap();
    assert!(nothing["warning"].as_str().unwrap().contains("present to clear"), "{nothing}");
}
