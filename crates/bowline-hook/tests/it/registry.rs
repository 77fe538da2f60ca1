//! Which hooks there are.

use std::fs;

use bowline_hook::{HookOrigin, Hooks};
use bowline_protocol::HookEvent;
use bowline_settings::Source;
use serde_json::{Value, json};

use super::{Reply, Rig, pre_tool_use, stop};

fn labels(hooks: &Hooks) -> Vec<String> {
    let found = hooks.registrations().into_iter();
    found.map(|hook| format!("{} {}", hook.event, hook.label())).collect()
}

fn one(command: &str) -> Value {
    json!([{ "hooks": [{ "type": "command", "command": command }] }])
}

fn write(rig: &Rig, file: &str, settings: &Value) {
    let path = rig.path(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, settings.to_string()).unwrap();
}

#[tokio::test]
async fn without_hooks_nothing_runs() {
    let rig = Rig::new();
    assert!(!rig.hooks.any(&HookEvent::PreToolUse));
    let report = rig.run(pre_tool_use("Bash")).await;
    assert_eq!(report, Default::default());
}

#[tokio::test]
async fn hooks_of_all_layers_run_and_know_their_file() {
    let rig = Rig::new();
    write(&rig, "config/settings.json", &json!({ "hooks": { "Stop": one("echo user") } }));
    write(&rig, ".claude/settings.json", &json!({ "hooks": { "Stop": one("echo project") } }));
    write(&rig, ".claude/settings.local.json", &json!({ "hooks": { "Stop": one("echo local") } }));
    rig.hooks.set_settings(&rig.loaded());
    assert_eq!(labels(&rig.hooks), ["Stop echo user", "Stop echo project", "Stop echo local"]);
    assert_eq!(
        rig.hooks.registrations()[2].origin,
        HookOrigin::Settings {
            source: Source::Local,
            path: Some(rig.path(".claude/settings.local.json")),
        }
    );
    assert_eq!(rig.run(stop()).await.ran, 3);
}

#[tokio::test]
async fn a_repeated_initialize_replaces_the_callbacks_and_only_those() {
    let rig = Rig::settings(json!({ "Stop": one("true") }));
    rig.register(json!({ "Stop": [{ "hookCallbackIds": ["old"] }] }));
    assert_eq!(labels(&rig.hooks), ["Stop true", "Stop old"]);
    rig.register(json!({ "PreToolUse": [{ "hookCallbackIds": ["new"] }] }));
    assert_eq!(labels(&rig.hooks), ["Stop true", "PreToolUse new"]);
    rig.reply("new", Reply::Json(json!({})));
    assert_eq!(rig.run(pre_tool_use("Bash")).await.ran, 1);
    assert_eq!(rig.run(stop()).await.ran, 1);
}

#[test]
fn hooks_can_be_switched_off() {
    let rig = Rig::new();
    rig.register(json!({ "Stop": [{ "hookCallbackIds": ["host"] }] }));
    let managed = |extra: Value| {
        let mut settings = json!({ "hooks": { "Stop": one("managed") } });
        settings.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        write(&rig, "managed/managed-settings.json", &settings);
    };
    let project = |extra: Value| {
        let mut settings = json!({ "hooks": { "Stop": one("project") } });
        settings.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        rig.load(&settings);
    };

    managed(json!({}));
    project(json!({}));
    assert_eq!(labels(&rig.hooks), ["Stop project", "Stop managed", "Stop host"]);

    project(json!({ "disableAllHooks": true }));
    assert_eq!(labels(&rig.hooks), ["Stop managed", "Stop host"]);
    assert!(rig.hooks.policy().all_disabled);

    managed(json!({ "allowManagedHooksOnly": true }));
    project(json!({ "allowManagedHooksOnly": false }));
    assert_eq!(labels(&rig.hooks), ["Stop managed", "Stop host"]);
    assert!(rig.hooks.policy().managed_only);

    managed(json!({ "disableAllHooks": true }));
    project(json!({ "disableAllHooks": false }));
    assert_eq!(labels(&rig.hooks), ["Stop host"]);
    assert!(rig.hooks.policy().disabled_by_policy);
}

#[test]
fn only_a_policy_can_demand_managed_hooks() {
    let rig = Rig::new();
    rig.load(&json!({ "hooks": { "Stop": one("project") }, "allowManagedHooksOnly": true }));
    assert_eq!(labels(&rig.hooks), ["Stop project"]);
}

#[test]
fn hooks_are_listed() {
    let rig = Rig::settings(json!({ "PreToolUse": [{
        "matcher": "Bash",
        "hooks": [{ "type": "command", "command": "check", "timeout": 1.5 }],
    }] }));
    rig.register(json!({ "Stop": [{ "hookCallbackIds": ["h1"] }] }));
    let listing = serde_json::to_value(rig.hooks.listing()).unwrap();
    let counts: Vec<_> = listing["events"].as_array().unwrap().iter().collect();
    let counts = counts.iter().map(|event| (&event["name"], &event["hookCount"]));
    let (pre, stop, one) = (json!("PreToolUse"), json!("Stop"), json!(1));
    assert_eq!(Vec::from_iter(counts), [(&pre, &one), (&stop, &one)]);
    assert_eq!(
        listing["hooks"],
        json!([
            {
                "event": "PreToolUse", "matcher": "Bash", "type": "command",
                "displayText": "check", "commandText": "check", "source": "projectSettings",
                "sourceLabel": "Settings (projectSettings)",
                "path": rig.path(".claude/settings.json"), "timeout": 1.5,
            },
            {
                "event": "Stop", "type": "callback", "displayText": "h1", "source": "sdk",
                "sourceLabel": "The host",
            },
        ])
    );
    assert_eq!(
        listing["policy"],
        json!({
            "disabledByPolicy": false, "managedOnly": false, "pluginOnly": false,
            "allDisabled": false, "policyHookCount": 0,
        })
    );
    let catalog = listing["eventCatalog"].as_array().unwrap();
    assert_eq!(catalog.len(), HookEvent::KNOWN.len());
    for event in HookEvent::KNOWN {
        let listed = catalog.iter().find(|listed| listed["name"] == event.as_str()).unwrap();
        assert_eq!(listed["supportsMatcher"], event.supports_matcher());
        assert_ne!(listed["summary"], "");
    }
}

#[test]
fn hooks_that_can_never_run_are_named() {
    let rig = Rig::settings(json!({
        "PreToolUse": [
            { "matcher": "[", "hooks": [{ "type": "command", "command": "true" }] },
            { "hooks": [{ "type": "telepathy" }] },
        ],
        "Stop": [{ "matcher": "[", "hooks": [{ "type": "command", "command": "true" }] }],
        "PreLunch": one("true"),
    }));
    let file = rig.path(".claude/settings.json");
    let expected = [
        "PreToolUse: matcher `[` matches nothing",
        "PreToolUse: unknown type of hook",
        "unknown hook event `PreLunch`",
    ];
    let expected = expected.map(|text| format!("{}: {text}", file.display()));
    let mut found = rig.hooks.problems();
    found.sort();
    assert_eq!(found, expected);
}
