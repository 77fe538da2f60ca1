//! Files that change while a session runs.

use std::{fs, path::Path};

use bowline_engine::settings::{Settings, SettingsPaths, SettingsRequest, Trust};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rig::{Rig, text};

/// A session whose project's settings are these.
fn rig_with(settings: &Value) -> Rig {
    rig_in(settings, Trust::Trusted)
}

fn rig_in(settings: &Value, trust: Trust) -> Rig {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap();
    fs::create_dir(path.join(".claude")).unwrap();
    write(&path, settings);
    let places = SettingsPaths::new(path.join("home"), &path);
    Rig::in_folder(folder, |config| {
        let request = SettingsRequest { trust, ..SettingsRequest::default() };
        config.settings = Settings::load(&places, &request).unwrap();
        config.trust = trust;
        config.places = places;
    })
}

fn write(project: &Path, settings: &Value) {
    fs::write(project.join(".claude/settings.json"), settings.to_string()).unwrap();
}

async fn listen(rig: &Rig, event: &str) {
    let hooks = json!({event: [{"hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
}

/// The next input of the hook.
async fn hook_input(rig: &mut Rig) -> Value {
    let received = rig.until(|frame| frame["type"] == "hook_callback").await;
    received.last().unwrap()["call"]["input"].clone()
}

/// The value of a variable in commands of the session.
async fn variable(rig: &mut Rig, name: &str) -> String {
    let call = json!({"command": format!("echo \"[${name}]\"")});
    let frames = rig.run(&format!("TOOL Bash {call}\nNEXT\nSAY x")).await;
    let results = frames.iter().filter(|it| it["message"]["content"][0]["type"] == "tool_result");
    results.map(text).next_back().unwrap().to_owned()
}

#[tokio::test]
async fn changed_settings_apply_from_the_next_turn() {
    let mut rig = rig_with(&json!({"env": {"COLOR": "red", "SIZE": "big"}}));
    let project = rig.path().to_owned();
    write(
        &project,
        &json!({
            "env": {"COLOR": "blue"},
            "permissions": {"deny": ["Bash(touch:*)"]},
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo > stopped"}]}]},
        }),
    );
    assert_eq!(variable(&mut rig, "COLOR").await, "[blue]");
    assert_eq!(variable(&mut rig, "SIZE").await, "[]");
    assert!(project.join("stopped").exists());
    rig.run("TOOL Bash {\"command\": \"touch made\"}\nNEXT\nSAY x").await;
    assert!(!project.join("made").exists());
    // Settings that cannot be parsed change nothing.
    fs::write(project.join(".claude/settings.json"), "{\"env\":").unwrap();
    assert_eq!(variable(&mut rig, "COLOR").await, "[blue]");
    fs::remove_file(project.join(".claude/settings.json")).unwrap();
    assert_eq!(variable(&mut rig, "COLOR").await, "[]");
}

#[tokio::test]
async fn untrusted_project_gains_nothing_by_changing_its_settings() {
    let mut rig = rig_in(&json!({}), Trust::Untrusted);
    let project = rig.path().to_owned();
    let settings =
        json!({"env": {"GIT_PAGER": "evil"}, "permissions": {"allow": ["Bash(touch:*)"]}});
    write(&project, &settings);
    assert_eq!(variable(&mut rig, "GIT_PAGER").await, "[]");
    rig.will_permit(json!({"behavior": "deny", "message": "no"}));
    rig.run("TOOL Bash {\"command\": \"touch made\"}\nNEXT\nSAY x").await;
    assert!(!project.join("made").exists());
}

#[tokio::test]
async fn hooks_receive_settings_changes_at_once_and_may_object() {
    let mut rig = rig_with(&json!({}));
    let project = rig.path().canonicalize().unwrap();
    listen(&rig, "ConfigChange").await;
    rig.will_hook(json!({"decision": "block", "reason": "not now"}));
    write(&project, &json!({"env": {"COLOR": "blue"}}));
    let input = hook_input(&mut rig).await;
    assert_eq!(input["source"], "project_settings");
    assert_eq!(input["file_path"], project.join(".claude/settings.json").display().to_string());
    assert_eq!(variable(&mut rig, "COLOR").await, "[]");

    fs::create_dir(project.join("home")).unwrap();
    fs::write(project.join("home/settings.json"), "{\"env\": {\"SIZE\": \"big\"}}").unwrap();
    assert_eq!(hook_input(&mut rig).await["source"], "user_settings");
    assert_eq!(variable(&mut rig, "SIZE").await, "[big]");
}

#[tokio::test]
async fn settings_written_by_the_session_are_not_reported() {
    let mut rig = rig_with(&json!({}));
    listen(&rig, "ConfigChange").await;
    let settings = json!({"outputStyle": "terse"});
    let update =
        json!({"subtype": "update_settings", "source": "localSettings", "settings": settings});
    rig.control(update).await.unwrap();
    rig.will_permit(json!({"behavior": "allow", "updatedPermissions": [{
        "type": "addRules", "behavior": "allow", "destination": "localSettings",
        "rules": [{"toolName": "Bash", "ruleContent": "touch *"}],
    }]}));
    let mut frames = rig.run("TOOL Bash {\"command\": \"touch a\"}\nNEXT\nSAY x").await;
    frames.extend(rig.run("SAY y").await);
    assert!(frames.iter().all(|frame| frame["type"] != "hook_callback"), "{frames:#?}");
    assert!(
        fs::read_to_string(rig.path().join(".claude/settings.local.json"))
            .unwrap()
            .contains("touch")
    );
}

#[tokio::test]
async fn files_that_matchers_name_are_watched() {
    let mut rig = Rig::new();
    let hooks = json!({"FileChanged": [{"matcher": "flag.txt|other", "hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    let file = rig.path().canonicalize().unwrap().join("flag.txt");
    fs::write(file.with_file_name("unnamed"), "1").unwrap();
    for (text, event) in [(Some("1"), "add"), (Some("longer"), "change"), (None, "unlink")] {
        match text {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let input = hook_input(&mut rig).await;
        assert_eq!(input["file_path"], file.display().to_string());
        assert_eq!(input["event"], event);
    }
}

#[tokio::test]
async fn hooks_choose_what_is_watched() {
    let mut rig = Rig::new();
    let folder = rig.path().canonicalize().unwrap();
    fs::create_dir_all(folder.join("sub/deep")).unwrap();
    fs::write(folder.join("sub/old"), "1").unwrap();
    let hooks = json!({
        "CwdChanged": [{"hookCallbackIds": ["cwd"]}],
        "FileChanged": [{"hookCallbackIds": ["file"]}],
    });
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    let watch = |event: &str, paths: Value| json!({"hookSpecificOutput": {"hookEventName": event, "watchPaths": paths}});
    rig.will_hook(watch("CwdChanged", json!([folder.join("sub")])));
    rig.run("TOOL Bash {\"command\": \"cd sub\"}\nNEXT\nSAY x").await;
    rig.will_hook(watch("FileChanged", json!([])));
    let made = folder.join("sub/deep/new");
    fs::write(&made, "1").unwrap();
    let input = hook_input(&mut rig).await;
    assert_eq!(input["file_path"], made.display().to_string());
    assert_eq!(input["event"], "add");
}
