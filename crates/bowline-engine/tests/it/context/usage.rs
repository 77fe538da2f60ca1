//! What fills the context: the `/context` command shows what `get_context_usage` tells.

use serde_json::{Value, json};

use super::write;
use crate::{
    ears::Ears,
    rig::{Rig, text},
};

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
async fn the_system_prompt_counts_before_the_first_turn() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "CLAUDE.md", &"Use tabs. ".repeat(100));
    let rig = Rig::in_folder(folder, |_| {});
    let usage = rig.control(json!({"subtype": "get_context_usage"})).await.unwrap();
    assert!(category(&usage, "System prompt").unwrap()["tokens"].as_u64().unwrap() > 100);
    assert_eq!(category(&usage, "Memory files").unwrap()["tokens"], 250);
    assert!(category(&usage, "Messages").is_none());
}

#[tokio::test]
async fn who_wants_it_exactly_gets_what_the_provider_counts() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "CLAUDE.md", &"Use tabs. ".repeat(100));
    let ears = Ears::default();
    let mut rig = Rig::in_folder(folder, |config| ears.listen(config));
    rig.run("SAY some words for the conversation").await;
    let ask = |detail| json!({"subtype": "get_context_usage", "detail": detail});
    let estimated = rig.control(ask("summary")).await.unwrap();
    assert!(ears.counted().is_empty(), "estimates ask nobody");
    let exact = rig.control(ask("full")).await.unwrap();
    let [alone, with_system, with_tools] = ears.counted()[..] else { panic!("three questions") };
    let tokens = |usage: &Value, name| category(usage, name).unwrap()["tokens"].as_u64().unwrap();
    assert_eq!(tokens(&exact, "Messages"), alone);
    let system = tokens(&exact, "System prompt") + tokens(&exact, "Memory files");
    assert_eq!(system, with_system - alone);
    assert_eq!(tokens(&exact, "System tools"), with_tools - alone);
    assert_eq!(exact["totalTokens"], with_system + with_tools - alone);
    assert_ne!(exact["totalTokens"], estimated["totalTokens"]);
    assert_eq!(exact["memoryFiles"][0]["tokens"], tokens(&exact, "Memory files"));
}
