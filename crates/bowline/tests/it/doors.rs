//! One script through every door: the same requests, decisions and result.

use std::{
    fs,
    sync::{Arc, Mutex, PoisonError},
};

use bowline_host::{
    Embedded, Listener, ListenerOptions, Message, Options, PermissionResult, ToolRequest, query,
};
use serde_json::{Value, json};

use crate::test_home::{Host, TestHome};

const ALLOWED: &str = "Bash(touch free)";
const FORBIDDEN: &str = "Bash(touch never)";
const RULES: [&str; 4] = ["--allowedTools", ALLOWED, "--disallowedTools", FORBIDDEN];

/// Script of the model, the same for every door.
const SCRIPT: &str = r#"SAY Four files, please.
TOOL Bash {"command": "touch free"}
NEXT
TOOL Bash {"command": "touch yes"}
NEXT
TOOL Bash {"command": "touch no"}
NEXT
TOOL Bash {"command": "touch never"}
NEXT
SAY Two of four."#;

/// Outcome of a run.
#[derive(Debug, Default, PartialEq)]
struct Played {
    /// Commands for which approval was requested.
    asked: Vec<String>,
    /// The commands that the result calls denied.
    denied: Vec<String>,
    result: String,
    /// The files that are there.
    made: Vec<String>,
}

impl Played {
    /// The end of a run, in the words of its result.
    fn end(self, rig: &TestHome, result: &Value) -> Self {
        let denials = result["permission_denials"].as_array().unwrap();
        let command = |denial: &Value| denial["tool_input"]["command"].as_str().unwrap().to_owned();
        let files = fs::read_dir(rig.cwd()).unwrap();
        let mut made: Vec<_> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        made.sort();
        Self {
            denied: denials.iter().map(command).collect(),
            result: result["result"].as_str().unwrap().to_owned(),
            made,
            ..self
        }
    }

    /// Decides a permission request as every host here does.
    fn decide(&mut self, command: &str) -> bool {
        self.asked.push(command.to_owned());
        command == "touch yes"
    }
}

fn permission(allowed: bool) -> Value {
    match allowed {
        true => json!({"behavior": "allow"}),
        false => json!({"behavior": "deny", "message": "not this one"}),
    }
}

/// Plays the script through a door.
type Play = fn(&TestHome) -> Played;

/// The stream-json protocol of the official SDKs.
fn stdio(rig: &TestHome) -> Played {
    let mut played = Played::default();
    let args = [&["--permission-prompt-tool", "stdio"][..], &RULES].concat();
    let mut host = rig.open(&args);
    host.prompt(SCRIPT);
    loop {
        let line = host.receive().unwrap();
        if line["type"] == "control_request" {
            let allowed = played.decide(line["request"]["input"]["command"].as_str().unwrap());
            host.answer(&line, permission(allowed));
        } else if line["type"] == "result" {
            host.close_input();
            assert_eq!(host.end().code, Some(0));
            return played.end(rig, &line);
        }
    }
}

/// JSON-RPC.
fn rpc(rig: &TestHome) -> Played {
    let mut played = Played::default();
    let mut client = rig.speak([&["rpc", "--model", "script"][..], &RULES].concat());
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "run", "params": {"prompt": SCRIPT}}));
    loop {
        let line = client.receive().unwrap();
        if line["method"] == "permission/request" {
            let allowed = played.decide(line["params"]["input"]["command"].as_str().unwrap());
            let answer = permission(allowed);
            client.send(json!({"jsonrpc": "2.0", "id": line["id"], "result": answer}));
        } else if line["result"]["type"] == "result" {
            client.close_input();
            assert_eq!(client.end().code, Some(0));
            return played.end(rig, &line["result"]);
        }
    }
}

/// The tool `agent` of the MCP server.
fn mcp(rig: &TestHome) -> Played {
    let mut played = Played::default();
    let mut client = rig.speak([&["mcp", "serve", "--model", "script"][..], &RULES].concat());
    let ask = |client: &mut Host, id: u64, method: &str, params: Value| {
        client.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    };
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"},
    });
    ask(&mut client, 1, "initialize", hello);
    assert_eq!(client.receive().unwrap()["id"], 1);
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    ask(&mut client, 2, "tools/call", json!({"name": "agent", "arguments": {"prompt": SCRIPT}}));
    loop {
        let line = client.receive().unwrap();
        if line["method"] == "elicitation/create" {
            let message = line["params"]["message"].as_str().unwrap();
            let input: Value = serde_json::from_str(message.lines().last().unwrap()).unwrap();
            let decision = match played.decide(input["command"].as_str().unwrap()) {
                true => "allow",
                false => "deny",
            };
            let answer = json!({"action": "accept", "content": {"decision": decision}});
            client.send(json!({"jsonrpc": "2.0", "id": line["id"], "result": answer}));
        } else if line["id"] == 2 {
            client.close_input();
            assert_eq!(client.end().code, Some(0));
            return played.end(rig, &line["result"]["structuredContent"]);
        }
    }
}

/// The engine inside a program: no process, no JSON.
fn embedded(rig: &TestHome) -> Played {
    let agent = Embedded::script(rig.cwd());
    runtime().block_on(by_sdk(rig, |options| options.embedded(agent)))
}

/// A WebSocket that the agent dials.
fn websocket(rig: &TestHome) -> Played {
    runtime().block_on(async {
        let listener = Listener::bind("127.0.0.1:0", ListenerOptions::default()).await.unwrap();
        let agent = listener.expect("/play").unwrap();
        let url = listener.url("/play");
        let words = [&["--sdk-url", &url, "--model", "script"][..], &RULES].concat();
        let mut command = rig.bowline(words);
        command.env("CLAUDE_CODE_SESSION_ACCESS_TOKEN", listener.token().unwrap());
        let mut dialing = command.spawn().unwrap();
        let played = by_sdk(rig, |options| options.websocket(agent)).await;
        assert!(dialing.wait().unwrap().success());
        played
    })
}

/// Plays the script with the SDK for Rust, over a given transport.
async fn by_sdk(rig: &TestHome, carry: impl FnOnce(Options) -> Options) -> Played {
    let played = Arc::new(Mutex::new(Played::default()));
    let host = Arc::clone(&played);
    let options = Options::default().allow([ALLOWED]).disallow([FORBIDDEN]).can_use_tool(
        move |request: ToolRequest| {
            let host = Arc::clone(&host);
            async move {
                let input = request.input.to_value();
                let mut host = host.lock().unwrap_or_else(PoisonError::into_inner);
                match host.decide(input["command"].as_str().unwrap()) {
                    true => PermissionResult::allow(),
                    false => PermissionResult::deny("not this one"),
                }
            }
        },
    );
    let mut messages = query(SCRIPT, carry(options));
    let mut result = None;
    while let Some(message) = messages.next().await {
        if let Message::Result(last) = message.unwrap() {
            result = Some(serde_json::to_value(&last).unwrap());
        }
    }
    let played = std::mem::take(&mut *played.lock().unwrap());
    played.end(rig, &result.expect("a result"))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn every_door_leads_to_the_same_agent() {
    let expected = || Played {
        asked: vec!["touch yes".to_owned(), "touch no".to_owned()],
        denied: vec!["touch no".to_owned(), "touch never".to_owned()],
        result: "Two of four.".to_owned(),
        made: vec!["free".to_owned(), "yes".to_owned()],
    };
    let doors: [(&str, Play); 5] = [
        ("stdio", stdio),
        ("websocket", websocket),
        ("rpc", rpc),
        ("mcp", mcp),
        ("embedded", embedded),
    ];
    for (name, play) in doors {
        assert_eq!(play(&TestHome::new()), expected(), "{name}");
    }
}
