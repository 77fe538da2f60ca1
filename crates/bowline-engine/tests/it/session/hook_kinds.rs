//! Hooks that are not programs: web servers, models, agents, MCP tools; and their conditions.

use std::{collections::BTreeMap, sync::Arc};

use bowline_engine::settings::Settings;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

use crate::rig::{Rig, shapes, text};

const ECHO: &str = "TOOL Bash {\"command\": \"echo hi\"}\nNEXT\nSAY done";

/// A session with one hook in the project's settings.
fn rig(event: &str, hook: Value) -> Rig {
    rig_with(event, hook, |_| {})
}

fn rig_with(
    event: &str,
    hook: Value,
    change: impl FnOnce(&mut bowline_engine::SessionConfig),
) -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let settings = json!({"hooks": {event: [{"hooks": [hook]}]}});
    std::fs::create_dir(folder.path().join(".claude")).unwrap();
    std::fs::write(folder.path().join(".claude/settings.json"), settings.to_string()).unwrap();
    Rig::in_folder(folder, |config| {
        config.places =
            bowline_engine::settings::SettingsPaths::new(config.cwd.join("config"), &config.cwd);
        config.settings = Settings::load(&config.places, &crate::rig::trusted()).unwrap();
        config.include_hook_events = true;
        change(config);
    })
}

fn result_of_call(frames: &[Value]) -> &Value {
    let of_call = |frame: &&Value| frame["message"]["content"][0]["type"] == "tool_result";
    frames.iter().find(of_call).unwrap()
}

fn warnings(frames: &[Value]) -> Vec<&Value> {
    frames.iter().filter(|frame| frame["tag"] == "hook_no_verdict").collect()
}

#[tokio::test]
async fn prompt_hook_objection_ends_the_turn() {
    let prompt = "SAY {\"ok\": false, \"reason\": \"not now\"}";
    let mut rig = rig("PreToolUse", json!({"type": "prompt", "prompt": prompt}));
    let frames = rig.run(ECHO).await;
    let received = text(result_of_call(&frames));
    assert_eq!(received, format!("PreToolUse:Bash hook error: [{prompt}]: not now"));
    let result = frames.last().unwrap();
    assert_eq!(result["terminal_reason"], "hook_stopped");
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
}

#[tokio::test]
async fn prompt_hook_objection_may_let_the_turn_continue() {
    let prompt = "SAY {\"ok\": false, \"reason\": \"not now\"}";
    let hook = json!({"type": "prompt", "prompt": prompt, "continueOnBlock": true});
    let frames = rig("PreToolUse", hook).run(ECHO).await;
    assert_eq!(result_of_call(&frames)["message"]["content"][0]["is_error"], true);
    assert_eq!(frames.last().unwrap()["result"], "done");
}

#[tokio::test]
async fn prompt_hook_usage_is_billed() {
    let hook = json!({"type": "prompt", "prompt": "Fine? $ARGUMENTS\nUSAGE {\"input_tokens\": 1000}\nSAY {\"ok\": true}"});
    let frames = rig("PreToolUse", hook).run(ECHO).await;
    assert_eq!(text(result_of_call(&frames)), "hi");
    let used = &frames.last().unwrap()["modelUsage"]["script"]["inputTokens"];
    assert!(used.as_u64().unwrap() > 1000, "{used}");
}

#[tokio::test]
async fn prompt_hook_with_invalid_output_does_not_block_and_is_reported() {
    let hook = json!({"type": "prompt", "prompt": "SAY perhaps"});
    let frames = rig("PreToolUse", hook).run(ECHO).await;
    assert_eq!(text(result_of_call(&frames)), "hi");
    assert_eq!(warnings(&frames)[0]["hook_no_verdict"]["timed_out"], false);
}

#[tokio::test]
async fn unresponsive_prompt_hook_times_out() {
    let hook = json!({"type": "prompt", "prompt": "SAY {\nHANG", "timeout": 0.1});
    let frames = rig("PreToolUse", hook).run(ECHO).await;
    assert_eq!(text(result_of_call(&frames)), "hi");
    assert_eq!(warnings(&frames)[0]["hook_no_verdict"]["timed_out"], true);
}

#[tokio::test]
async fn a_model_sees_the_conversation_at_its_end_and_sends_it_back_to_work() {
    let prompt = "SAY {\"ok\": false, \"reason\": \"tests are missing\"}";
    let hook = json!({"type": "prompt", "prompt": prompt, "once": true});
    let frames = rig("Stop", hook).run("SAY finished").await;
    let feedback = frames.iter().find(|frame| frame["isSynthetic"] == true).unwrap();
    assert!(text(feedback).contains("tests are missing"), "{feedback}");
    assert_eq!(frames.last().unwrap()["terminal_reason"], "completed");
}

#[tokio::test]
async fn a_hook_that_never_agrees_does_not_keep_the_turn_from_ending() {
    let hook = json!({"type": "command", "command": "echo no >&2; exit 2"});
    let mut rig = rig_with("Stop", hook, |config| config.stop_hook_block_cap = 2);
    let frames = rig.run("SAY finished").await;
    let feedback = frames.iter().filter(|frame| frame["isSynthetic"] == true).count();
    assert_eq!(feedback, 3);
    let keys: Vec<_> = frames.iter().filter_map(|frame| frame["key"].as_str()).collect();
    assert_eq!(keys, ["stop-hook-error", "stop-hook-block-cap"]);
    assert_eq!(frames.last().unwrap()["terminal_reason"], "completed");
}

#[tokio::test]
async fn a_prompt_that_a_model_refuses_goes_nowhere() {
    let hook = json!({"type": "prompt", "prompt": "SAY {\"ok\": false, \"reason\": \"too rude\"}"});
    let frames = rig("UserPromptSubmit", hook).run("SAY hello").await;
    let result = frames.last().unwrap();
    assert_eq!(result["result"], "Operation stopped by hook: too rude");
    assert_eq!(result["num_turns"], 0);
}

#[tokio::test]
async fn agent_hook_uses_tools_before_it_objects() {
    let prompt = "TOOL Read {\"file_path\": \"state.txt\"}\nNEXT\n\
                  TOOL StructuredOutput {\"ok\": false, \"reason\": \"the state is red\"}";
    let mut rig = rig("PreToolUse", json!({"type": "agent", "prompt": prompt}));
    std::fs::write(rig.path().join("state.txt"), "red").unwrap();
    let frames = rig.run(ECHO).await;
    assert_eq!(
        text(result_of_call(&frames)),
        "PreToolUse:Bash hook error: Agent hook condition was not met: the state is red"
    );
    assert_eq!(frames.last().unwrap()["result"], "done");
    let calls = shapes(&frames).iter().filter(|shape| *shape == "assistant:tool_use").count();
    assert_eq!(calls, 1, "calls of the hook's agent are not emitted");
}

#[tokio::test]
async fn agent_hook_gets_no_permission_without_a_rule() {
    let prompt = "TOOL Bash {\"command\": \"touch made.txt\"}\nNEXT\nSAY {\"ok\": true}";
    let mut rig = rig("Stop", json!({"type": "agent", "prompt": prompt}));
    rig.run("SAY finished").await;
    assert!(!rig.path().join("made.txt").exists());
}

#[tokio::test]
async fn an_agent_changes_nothing_even_where_everything_is_allowed() {
    let prompt = "TOOL Bash {\"command\": \"touch made.txt\"}\nNEXT\n\
                  TOOL Bash {\"command\": \"cat state.txt\", \"run_in_background\": true}\nNEXT\n\
                  TOOL Bash {\"command\": \"cat state.txt\"}\nNEXT\nSAY {\"ok\": true}";
    let hook = json!({"type": "agent", "prompt": prompt});
    let mut rig = rig_with("Stop", hook, |config| {
        config.policy.mode = bowline_protocol::PermissionMode::BypassPermissions;
    });
    std::fs::write(rig.path().join("state.txt"), "green").unwrap();
    let frames = rig.run("SAY finished").await;
    assert!(!rig.path().join("made.txt").exists());
    let tasks = frames.iter().filter(|frame| frame["subtype"] == "task_started");
    assert_eq!(tasks.count(), 0, "nothing is left running");
}

#[tokio::test]
async fn a_tool_of_a_server_is_given_what_the_hook_names() {
    let hook = json!({
        "type": "mcp_tool",
        "server": "guard",
        "tool": "check",
        "input": {"text": "${tool_input.command}"},
    });
    let mut rig = rig("PreToolUse", hook);
    rig.serves(|_, message| {
        let id = &message["id"];
        let answer = |result: Value| Ok(json!({"jsonrpc": "2.0", "id": id, "result": result}));
        match message["method"].as_str().unwrap() {
            "initialize" => answer(json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "guard", "version": "1"},
            })),
            "tools/list" => answer(json!({
                "tools": [{"name": "check", "inputSchema": {"type": "object"}}],
            })),
            "tools/call" => {
                let asked = &message["params"]["arguments"]["text"];
                let verdict = json!({"decision": "block", "reason": format!("not {asked}")});
                answer(json!({"content": [{"type": "text", "text": verdict.to_string()}]}))
            }
            _ => answer(json!({})),
        }
    });
    rig.control(json!({"subtype": "initialize", "sdkMcpServers": ["guard"]})).await.unwrap();
    let frames = rig.run(ECHO).await;
    assert_eq!(text(result_of_call(&frames)), "PreToolUse:Bash hook error: not \"echo hi\"");
    let shapes = shapes(&frames);
    assert!(shapes.iter().any(|shape| shape == "hook_started"), "{shapes:?}");
}

#[tokio::test]
async fn a_web_server_decides() {
    let mut server = Server::start("200 OK", r#"{"decision": "block", "reason": "closed"}"#).await;
    let hook = json!({
        "type": "http",
        "url": server.url,
        "headers": {"x-token": "Bearer $ALLOWED", "x-secret": "$FORBIDDEN"},
        "allowedEnvVars": ["ALLOWED"],
    });
    let set = |name: &str| (name.to_owned(), Some(format!("value of {name}")));
    let mut rig = rig_with("PreToolUse", hook, |config| {
        config.environment = BTreeMap::from([set("ALLOWED"), set("FORBIDDEN")]);
    });
    let frames = rig.run(ECHO).await;
    assert_eq!(text(result_of_call(&frames)), "PreToolUse:Bash hook error: closed");
    let request = server.requests.recv().await.unwrap();
    assert!(request.contains("x-token: Bearer value of ALLOWED\r\n"), "{request}");
    assert!(!request.contains("FORBIDDEN"), "{request}");
    let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(body["hook_event_name"], "PreToolUse");
    assert_eq!(body["tool_input"]["command"], "echo hi");
    let response = frames.iter().find(|frame| frame["subtype"] == "hook_response").unwrap();
    assert_eq!(response["outcome"], "success");
}

#[tokio::test]
async fn a_web_server_that_fails_stops_nothing_unless_it_must() {
    for (on_failure, expected) in [("continue", "hi"), ("block", "HTTP 500")] {
        let server = Server::start("500 Internal Server Error", "oops").await;
        let hook = json!({"type": "http", "url": server.url, "onFailure": on_failure});
        let frames = rig("PreToolUse", hook).run(ECHO).await;
        let received = text(result_of_call(&frames));
        assert!(received.contains(expected), "{on_failure}: {received}");
        assert_eq!(warnings(&frames).len(), 1);
    }
}

#[tokio::test]
async fn a_condition_is_a_permission_rule() {
    let hook = json!({
        "type": "command",
        "command": "echo 'no pushing' >&2; exit 2",
        "if": "Bash(git push *)",
    });
    let mut rig = rig("PreToolUse", hook);
    let call = |command: &str| format!("TOOL Bash {}\nNEXT\nSAY done", json!({"command": command}));
    let pushed = rig.run(&call("echo hi && git push origin main")).await;
    assert!(text(result_of_call(&pushed)).contains("no pushing"));
    let echoed = rig.run(&call("echo git push origin main")).await;
    assert_eq!(text(result_of_call(&echoed)), "git push origin main");
}

#[tokio::test]
async fn a_prompt_that_the_host_does_not_judge_in_time_is_not_sent() {
    let mut rig = Rig::new();
    let hooks = json!({"UserPromptSubmit": [{"hookCallbackIds": ["h1"], "timeout": 0.1}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.will_not_hook();
    let frames = rig.run("SAY hello").await;
    let received = frames.iter().find(|frame| frame["subtype"] == "informational").unwrap();
    assert_eq!(
        received["prompt_submit_outcome"],
        json!({
            "kind": "no_verdict",
            "prompt_kept": false,
            "no_verdict_kind": "callback_timed_out",
        })
    );
    let result = frames.last().unwrap();
    assert_eq!(
        result["result"],
        "UserPromptSubmit operation blocked by hook:\nUserPromptSubmit hook callback timed out \
         after 100ms"
    );
    assert_eq!(result["num_turns"], 0);
}

/// A web server with one fixed response.
struct Server {
    url: String,
    requests: mpsc::UnboundedReceiver<String>,
    _running: tokio_util::task::AbortOnDropHandle<()>,
}

impl Server {
    async fn start(status: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (received, requests) = mpsc::unbounded_channel();
        let length = body.len();
        let answer: Arc<str> =
            format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}").into();
        let running = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                received.send(answer_one(stream, &answer).await).ok();
            }
        });
        Self { url, requests, _running: tokio_util::task::AbortOnDropHandle::new(running) }
    }
}

/// Reads one request whole and responds to it.
async fn answer_one(mut stream: TcpStream, answer: &str) -> String {
    let mut request = Vec::new();
    loop {
        stream.read_buf(&mut request).await.unwrap();
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            stream.write_all(answer.as_bytes()).await.unwrap();
            return text;
        }
    }
}

fn printing(output: &Value) -> Value {
    json!({"type": "command", "command": format!("echo '{output}'")})
}

fn before_tool(fields: &Value) -> Value {
    let mut output = json!({"hookEventName": "PreToolUse"});
    output.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"hookSpecificOutput": output})
}

#[tokio::test]
async fn an_input_that_a_hook_has_spoiled_is_the_hooks_fault() {
    for spoiled in [json!({"command": 5}), json!({"words": "x"})] {
        let fields = json!({"permissionDecision": "allow", "updatedInput": spoiled});
        let mut rig = rig("PreToolUse", printing(&before_tool(&fields)));
        let frames = rig.run(ECHO).await;
        let result = result_of_call(&frames);
        let received = text(result);
        assert!(
            received.starts_with("PreToolUse hook for Bash returned updatedInput"),
            "{received}"
        );
        assert!(received.contains("`command`"), "it says what is wrong: {received}");
        let decision = &result["tool_result_meta"][0]["permission_decision"];
        assert_eq!(
            (&decision["decision"], &decision["source"]),
            (&json!("reject"), &json!("hook"))
        );
        let denied = &frames.last().unwrap()["permission_denials"];
        assert_eq!(denied[0]["tool_input"], json!({"command": "echo hi"}));
    }
}

#[tokio::test]
async fn command_hook_with_invalid_output_does_not_block_and_is_reported() {
    let other_event = json!({"hookSpecificOutput": {"hookEventName": "PostToolUse"}});
    let unknown = before_tool(&json!({"permissionDecision": "perhaps"}));
    let no_object = before_tool(&json!({"updatedInput": "x"}));
    for output in [other_event, unknown, no_object] {
        let mut rig = rig("PreToolUse", printing(&output));
        let frames = rig.run(ECHO).await;
        assert_eq!(text(result_of_call(&frames)), "hi", "{output}");
        assert_eq!(warnings(&frames).len(), 1, "{output}");
    }
}
