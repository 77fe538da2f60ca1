//! Context usage: `/context` shows the data of `get_context_usage`.

use serde_json::{Value, json};

use super::write;
use crate::{
    request_log::RequestLog,
    rig::{Reply, Rig, text},
};

/// A server with instructions for the model.
fn tide(_: &str, message: &Value) -> Reply {
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tide", "version": "1"},
            "instructions": format!("Ask for the tide first. {}", "x".repeat(5000)),
        }),
        "tools/list" => json!({"tools": [{"name": "level", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "high ".repeat(40)}]}),
        _ => json!({}),
    };
    Ok(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

fn category<'a>(usage: &'a Value, name: &str) -> Option<&'a Value> {
    usage["categories"].as_array().unwrap().iter().find(|it| it["name"] == name)
}

#[tokio::test]
async fn categories_add_up_to_the_window() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "CLAUDE.md", &"Use tabs. ".repeat(100));
    let mut rig = Rig::in_folder(folder, |_| {});
    rig.run("SAY some words for the conversation").await;
    let frames = rig.run("/context").await;
    let [_, answer, result] = &frames[..] else { panic!("{frames:#?}") };
    let usage = &answer["context_usage"];
    let tokens = |it: &Value| it["tokens"].as_u64().unwrap();
    let all: u64 = usage["categories"].as_array().unwrap().iter().map(tokens).sum();
    assert_eq!(all, usage["raw_max_tokens"].as_u64().unwrap());
    let used = usage["categories"].as_array().unwrap().iter().filter(|it| it["kind"] == "used");
    assert_eq!(used.map(tokens).sum::<u64>(), usage["total_tokens"].as_u64().unwrap());
    assert_eq!(tokens(category(usage, "Memory files").unwrap()), 250, "1000 bytes");
    assert!(tokens(category(usage, "Messages").unwrap()) > 10);
    assert!(category(usage, "MCP tools").is_none(), "what is not there is not shown");
    assert_eq!(usage["memory_files"][0]["type"], "Project");
    assert_eq!(tokens(category(usage, "Autocompact buffer").unwrap()), 33_000);
    assert!(text(answer).starts_with("## Context Usage"));
    assert_eq!(result["result"], text(answer));
    assert_eq!(answer["local_command_run"]["command"], "context");
}

#[tokio::test]
async fn system_prompt_is_counted_before_the_first_turn() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "CLAUDE.md", &"Use tabs. ".repeat(100));
    let rig = Rig::in_folder(folder, |_| {});
    let usage = rig.control(json!({"subtype": "get_context_usage"})).await.unwrap();
    assert!(category(&usage, "System prompt").unwrap()["tokens"].as_u64().unwrap() > 100);
    assert_eq!(category(&usage, "Memory files").unwrap()["tokens"], 250);
    assert!(category(&usage, "Messages").is_none());
}

#[tokio::test]
async fn full_detail_has_the_counts_of_the_provider() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "CLAUDE.md", &"Use tabs. ".repeat(100));
    let log = RequestLog::default();
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    rig.run("SAY some words for the conversation").await;
    let ask = |detail| json!({"subtype": "get_context_usage", "detail": detail});
    let estimated = rig.control(ask("summary")).await.unwrap();
    assert!(log.counted().is_empty(), "estimates ask nobody");
    let exact = rig.control(ask("full")).await.unwrap();
    let [alone, with_system, with_tools] = log.counted()[..] else { panic!("three questions") };
    let tokens = |usage: &Value, name| category(usage, name).unwrap()["tokens"].as_u64().unwrap();
    assert_eq!(tokens(&exact, "Messages"), alone);
    let system = tokens(&exact, "System prompt") + tokens(&exact, "Memory files");
    assert_eq!(system, with_system - alone);
    assert_eq!(tokens(&exact, "System tools"), with_tools - alone);
    assert_eq!(exact["totalTokens"], with_system + with_tools - alone);
    assert_ne!(exact["totalTokens"], estimated["totalTokens"]);
    assert_eq!(exact["memoryFiles"][0]["tokens"], tokens(&exact, "Memory files"));
}

#[tokio::test]
async fn custom_and_server_parts_are_listed_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let skill = "---\nname: knots\ndescription: how to tie them\n---\nTie.";
    write(folder.path(), ".claude/skills/knots/SKILL.md", skill);
    let hidden = "---\ndescription: for people alone\ndisable-model-invocation: true\n---\nx";
    write(folder.path(), ".claude/skills/hidden/SKILL.md", hidden);
    let agent = "---\nname: diver\ndescription: dives deep\n---\nDive.";
    write(folder.path(), ".claude/agents/diver.md", agent);
    let log = RequestLog::default();
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    rig.serves(tide).will_permit(json!({"behavior": "allow"}));
    rig.control(json!({"subtype": "initialize", "sdkMcpServers": ["tide"]})).await.unwrap();
    rig.run("TOOL mcp__tide__level {}\nNEXT\nSAY done").await;

    let system = log.system().join("\n");
    let (_, received) = system.split_once("## tide\n").unwrap();
    assert!(received.starts_with("Ask for the tide first. xxx"), "{received}");
    let received = received.split('\n').next().unwrap();
    assert!(received.ends_with("x… [truncated]"), "a server does not fill the context: {received}");

    let usage = rig.control(json!({"subtype": "get_context_usage"})).await.unwrap();
    let tokens = |it: &Value| it["tokens"].as_u64().unwrap();
    let shown = |name| tokens(category(&usage, name).unwrap());
    let expected = received.len().div_ceil(4);
    assert_eq!(shown("MCP instructions"), expected as u64);
    assert_eq!(usage["mcpInstructions"], json!([{"serverName": "tide", "tokens": expected}]));
    assert_eq!(shown("MCP tools"), tokens(&usage["mcpTools"][0]));

    let [diver] = &usage["agents"].as_array().unwrap()[..] else { panic!("{usage}") };
    assert_eq!(
        (&diver["agentType"], &diver["source"]),
        (&json!("diver"), &json!("projectSettings"))
    );
    assert!(diver["path"].as_str().unwrap().ends_with("diver.md"));
    assert_eq!(shown("Custom agents"), tokens(diver));

    let skills = &usage["skills"];
    let entry = &skills["skillFrontmatter"][0];
    assert_eq!((&entry["name"], &entry["source"]), (&json!("knots"), &json!("projectSettings")));
    assert_eq!(skills["totalSkills"], 1, "skills that are not for the model are not counted");
    assert_eq!((tokens(entry), tokens(skills)), (shown("Skills"), shown("Skills")));

    let breakdown = &usage["messageBreakdown"];
    let [level] = &breakdown["toolCallsByType"].as_array().unwrap()[..] else { panic!("{usage}") };
    assert_eq!((&level["name"], &level["resultTokens"]), (&json!("mcp__tide__level"), &json!(50)));
    let counts = breakdown.as_object().unwrap().values().filter_map(Value::as_u64);
    assert_eq!(counts.sum::<u64>(), shown("Messages"));
}
