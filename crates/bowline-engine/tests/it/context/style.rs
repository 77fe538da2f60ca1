//! Output styles.

use bowline_engine::{
    plugin::{PluginRequest, Plugins},
    settings::{Settings, SettingsPaths},
};
use serde_json::json;

use super::write;
use crate::{request_log::RequestLog, rig::Rig};

/// The system prompt in a project with these files that chooses the style `chosen`.
async fn system_prompt(chosen: &str, files: &[(&str, &str)], plugins: &[&str]) -> String {
    let log = RequestLog::default();
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(path, text)| write(folder.path(), path, text));
    let settings = json!({"outputStyle": chosen}).to_string();
    write(folder.path(), "sub/.claude/settings.json", &settings);
    let mut rig = Rig::in_folder(folder, |config| {
        log.record(config);
        let project = config.cwd.join("sub");
        config.places = SettingsPaths::new(config.cwd.join("config"), &project);
        config.settings = Settings::load(&config.places, &crate::rig::trusted()).unwrap();
        let folders = plugins.iter().map(|name| PluginRequest::folder(config.cwd.join(name)));
        config.plugins = Plugins::load(folders.collect(), config.settings.known(), &config.places);
        config.cwd = project;
    });
    rig.run("SAY hi").await;
    let system = log.system()[0].clone();
    let style = system.split_once("# Output style: ").map(|(_, behind)| behind);
    style.and_then(|style| style.split("\n\n").next()).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn nearest_style_of_a_name_applies() {
    let at_top = (".claude/output-styles/deep/pirate.md", "---\nname: Pirate\n---\nfrom the top");
    let users = ("config/output-styles/pirate.md", "---\nname: Pirate\n---\nthe user's");
    let near = ("sub/.claude/output-styles/pirate.md", "---\nname: Pirate\n---\nnear");
    let repository = (".git/HEAD", "ref: refs/heads/main");
    for (files, expected) in [
        (&[users][..], "the user's"),
        (&[users, at_top], "the user's"),
        (&[users, at_top, repository], "from the top"),
        (&[users, at_top, repository, near], "near"),
    ] {
        assert_eq!(system_prompt("Pirate", files, &[]).await, format!("Pirate\n{expected}"));
    }
}

#[tokio::test]
async fn built_in_styles_can_be_replaced() {
    assert!(system_prompt("Explanatory", &[], &[]).await.contains("Insight"));
    let own = ("sub/.claude/output-styles/e.md", "---\nname: Explanatory\n---\nmine");
    assert_eq!(system_prompt("Explanatory", &[own], &[]).await, "Explanatory\nmine");
    assert_eq!(system_prompt("default", &[], &[]).await, "");
    assert_eq!(system_prompt("no such style", &[], &[]).await, "");
}

#[tokio::test]
async fn only_plugins_may_force_a_style() {
    let forced = "---\nname: loud\nforce-for-plugin: true\n---\nSpeak up.";
    let plugin = [
        ("horn/.claude-plugin/plugin.json", r#"{"name": "horn"}"#),
        ("horn/output-styles/loud.md", forced),
        ("sub/.claude/output-styles/loud.md", forced),
    ];
    assert_eq!(system_prompt("Concise", &plugin, &["horn"]).await, "horn:loud\nSpeak up.");
    assert!(system_prompt("Concise", &plugin, &[]).await.starts_with("Concise\n"));
}

#[tokio::test]
async fn style_replaces_the_default_sections() {
    for (keeps, head) in [(false, ""), (true, "keep-coding-instructions: true\n")] {
        let log = RequestLog::default();
        let folder = tempfile::tempdir().unwrap();
        let style = format!("---\nname: Pirate\n{head}---\nTalk like a pirate.");
        write(folder.path(), ".claude/output-styles/pirate.md", &style);
        write(folder.path(), ".claude/settings.json", r#"{"outputStyle": "Pirate"}"#);
        let mut rig = Rig::in_folder(folder, |config| {
            log.record(config);
            config.places = SettingsPaths::new(config.cwd.join("config"), &config.cwd);
            config.settings = Settings::load(&config.places, &crate::rig::trusted()).unwrap();
        });
        let answer = rig.control(json!({"subtype": "initialize"})).await.unwrap();
        assert_eq!(answer["output_style"], "Pirate");
        let styles = answer["available_output_styles"].as_array().unwrap();
        assert_eq!(styles.last(), Some(&json!("Pirate")));
        let frames = rig.run("SAY hi").await;
        assert_eq!(frames[0]["output_style"], "Pirate");
        let system = &log.system()[0];
        assert!(system.contains("# Output style: Pirate\nTalk like a pirate."), "{system}");
        assert!(!system.contains("# Answers"));
        assert_eq!(system.contains("# How to work"), keeps);
        assert!(system.contains("# Care"), "safety is no question of style");
    }
}
