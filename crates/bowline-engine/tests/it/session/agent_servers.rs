//! MCP servers that a kind of agent brings along.

use std::{fs, time::Duration};

use bowline_engine::settings::{SettingsPaths, Trust};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rig::{Rig, mcp_program, shapes, text};

/// Responds to every call with the server's start argument.
const CASES: &str = r#"
    *'"method":"initialize"'*)
      answer "$id" '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"own","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer "$id" '{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      answer "$id" "{\"content\":[{\"type\":\"text\",\"text\":\"said $WORD\"}]}" ;;"#;

const CALL: &str = "TOOL mcp__own__say {}\nNEXT\nSAY done";

fn server(gone: &std::path::Path) -> Value {
    let env = json!({"WORD": "${NO_SUCH_VARIABLE:-hello}", "GONE": gone});
    let program = format!("{}: > \"$GONE\"", mcp_program(CASES));
    json!([{"own": {"command": "bash", "args": ["-c", program], "env": env}}])
}

fn send(prompt: &str) -> String {
    send_as(prompt, false)
}

fn send_as(prompt: &str, background: bool) -> String {
    let input = json!({
        "description": "d", "prompt": prompt, "subagent_type": "worker",
        "run_in_background": background,
    });
    format!("TOOL Agent {input}")
}

/// A session whose host defines a kind with its own server, and the file that the server writes at its end.
async fn rig(main: bool) -> (Rig, std::path::PathBuf) {
    let folder = TempDir::new().unwrap();
    let gone = folder.path().join("gone");
    let rig = Rig::in_folder(folder, |config| {
        config.agent = main.then(|| "worker".to_owned());
    });
    let worker = json!({
        "description": "works", "prompt": "You work.", "tools": ["Read"],
        "mcpServers": server(&gone),
    });
    let agents = json!({"worker": worker});
    rig.control(json!({"subtype": "initialize", "agents": agents})).await.unwrap();
    (rig, gone)
}

fn results(frames: &[Value]) -> Vec<String> {
    let blocks = frames.iter().map(|frame| &frame["message"]["content"][0]);
    let results = blocks.filter(|block| block["type"] == "tool_result");
    results.map(|block| block["content"].to_string()).collect()
}

#[tokio::test]
async fn agent_servers_live_as_long_as_their_agent() {
    let (mut rig, gone) = rig(false).await;
    rig.will_permit(json!({"behavior": "allow"}));
    let frames = rig.run(&format!("{}\nNEXT\n{CALL}", send(CALL))).await;
    let asked = frames.iter().find(|frame| frame["type"] == "can_use_tool").unwrap();
    assert_eq!(asked["question"]["mcp_server"], json!({"name": "own", "source": "agent"}));
    let results = results(&frames);
    assert!(results[0].contains("said hello"), "{results:?}");
    assert!(results[2].contains("No such tool available: mcp__own__say"), "{results:?}");
    assert!(gone.exists(), "it ends with its agent");
    let status = rig.control(json!({"subtype": "mcp_status"})).await.unwrap();
    assert_eq!(status["mcpServers"], json!([]));
}

#[tokio::test]
async fn an_agent_that_waits_for_one_can_be_stopped() {
    let mut rig = Rig::with(|config| {
        config.mcp_grace = Duration::from_secs(3600);
        config.mcp_options.connect_timeout = config.mcp_grace;
    });
    let silent = json!([{"own": {"command": "sleep", "args": ["600"]}}]);
    let worker = json!({"description": "works", "prompt": "You work.", "mcpServers": silent});
    let agents = json!({"worker": worker});
    rig.control(json!({"subtype": "initialize", "agents": agents})).await.unwrap();
    rig.prompt(&format!("{}\nNEXT\nSAY main end", send_as("SAY hi", true))).await;
    let frames = rig.until(|frame| frame["type"] == "result").await;
    let started = frames.iter().find(|it| it["subtype"] == "task_started").unwrap();
    rig.control(json!({"subtype": "stop_task", "task_id": started["task_id"]})).await.unwrap();
    // The model gets the notice of a stopped agent once that has ended.
    let frames = rig.turn().await;
    assert_eq!(frames.last().unwrap()["origin"]["kind"], "task-notification");
}

#[tokio::test]
async fn servers_of_the_main_agent_live_as_long_as_the_session() {
    let (mut rig, _) = rig(true).await;
    rig.will_permit(json!({"behavior": "allow"}));
    let frames = rig.run(CALL).await;
    assert!(results(&frames)[0].contains("said hello"), "{:?}", shapes(&frames));
    let status = rig.control(json!({"subtype": "mcp_status"})).await.unwrap();
    assert_eq!(status["mcpServers"][0]["scope"], "agent");
}

#[tokio::test]
async fn untrusted_project_starts_no_agent_servers() {
    let folder = TempDir::new().unwrap();
    let agents = folder.path().join(".claude/agents");
    fs::create_dir_all(&agents).unwrap();
    let file = "---\nname: worker\ndescription: works\nmcpServers:\n  - own:\n      command: touch\n      \
                args: [started]\n---\nYou work.";
    fs::write(agents.join("worker.md"), file).unwrap();
    let path = folder.path().canonicalize().unwrap();
    let mut rig = Rig::in_folder(folder, |config| {
        config.places = SettingsPaths::new(path.join("none"), path);
        config.trust = Trust::Untrusted;
    });
    let frames = rig.run(&format!("{}\nNEXT\nSAY done", send("SAY hi"))).await;
    let received = frames.iter().find(|frame| frame["subtype"] == "notification").unwrap();
    assert!(received["text"].as_str().unwrap().ends_with("own"), "{received}");
    assert!(!rig.path().join("started").exists());
    assert_eq!(text(&frames[frames.len() - 2]), "done");
}
