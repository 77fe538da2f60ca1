//! System prompt: the default, replaced, appended to.

use bowline_engine::{SystemPrompt, settings::SourceSet};
use bowline_protocol::SYSTEM_PROMPT_DYNAMIC_BOUNDARY;
use serde_json::json;

use super::write;
use crate::{request_log::RequestLog, rig::Rig};

#[tokio::test]
async fn default_system_prompt_is_stable_in_bytes() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    rig.run("SAY one").await;
    let first = log.system();
    assert_eq!(first.len(), 2, "what is the same everywhere, and what is not");
    assert!(first[0].starts_with("You are Bowline"));
    for section in ["# How to work", "# Tools", "# Care", "# Answers"] {
        assert!(first[0].contains(section), "{section}");
    }
    let path = rig.path().canonicalize().unwrap();
    assert!(!first[0].contains(&path.display().to_string()));
    assert!(first[1].contains(&format!("Working directory: {}", path.display())));
    assert!(first[1].contains("Git repository: no"));
    rig.run("SAY two").await;
    assert_eq!(log.system(), first);
}

#[tokio::test]
async fn a_prompt_can_be_appended_to_or_replaced() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| {
        log.record(config);
        config.system_prompt = SystemPrompt::Default { append: Some("Be kind.".to_owned()) };
    });
    rig.run("SAY hi").await;
    assert_eq!(log.system()[1], "Be kind.");

    let mut rig = Rig::with(|config| {
        log.record(config);
        let parts = ["You are terse.", "Very."].map(str::to_owned);
        config.system_prompt = SystemPrompt::Custom(parts.into());
    });
    rig.run("SAY hi").await;
    assert_eq!(log.system(), ["You are terse.", "Very."]);
}

#[tokio::test]
async fn dynamic_boundary_is_not_sent() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    let parts = ["You are terse.", SYSTEM_PROMPT_DYNAMIC_BOUNDARY, "It is Monday."];
    let request = json!({"subtype": "initialize", "systemPrompt": parts});
    rig.control(request).await.unwrap();
    rig.run("SAY one").await;
    assert_eq!(log.system(), ["You are terse.", "It is Monday."]);
}

#[tokio::test]
async fn host_prompts_apply_from_the_next_turn() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    rig.run("SAY one").await;
    assert!(log.system()[0].starts_with("You are Bowline"));
    let request = json!({
        "subtype": "initialize", "systemPrompt": ["You are terse."], "appendSystemPrompt": "Very.",
    });
    rig.control(request).await.unwrap();
    rig.run("SAY two").await;
    assert_eq!(log.system(), ["You are terse.", "Very."]);
}

#[tokio::test]
async fn an_empty_prompt_of_the_host_means_none() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    rig.control(json!({"subtype": "initialize", "systemPrompt": [""]})).await.unwrap();
    rig.run("SAY hi").await;
    assert_eq!(log.system(), Vec::<String>::new());
}

#[tokio::test]
async fn dynamic_sections_can_go_with_the_first_prompt() {
    let log = RequestLog::default();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "CLAUDE.md", "Use tabs.");
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    let request = json!({"subtype": "initialize", "excludeDynamicSections": true});
    rig.control(request).await.unwrap();
    rig.run("SAY one").await;
    assert_eq!(log.system().len(), 1);
    let received = log.conversation();
    assert_eq!(received[0], "U: SAY one");
    assert!(received[1].starts_with("U: <system-reminder>"), "{received:?}");
    assert!(received[1].contains("Working directory:") && received[1].contains("Use tabs."));
    rig.run("SAY two").await;
    assert_eq!(log.conversation().iter().filter(|it| it.contains("Use tabs.")).count(), 1);
}

#[tokio::test]
async fn no_files_apply_without_sources() {
    let log = RequestLog::default();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "CLAUDE.md", "Use tabs.");
    write(folder.path(), ".claude/commands/hello.md", "Say hello.");
    let mut rig = Rig::in_folder(folder, |config| {
        log.record(config);
        config.sources = SourceSet::NONE;
    });
    let frames = rig.run("SAY one").await;
    assert!(!log.system().concat().contains("Use tabs."));
    let commands = frames[0]["slash_commands"].as_array().unwrap();
    assert!(!commands.contains(&json!("hello")));
}
