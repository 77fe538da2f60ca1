//! Settings that change while a session runs, and what a host is told about them.

use std::fs;

use bowline_protocol::{AppliedSettings, Maybe, RawJson, UpdateSettings};
use bowline_settings::{SettingsError, SettingsRequest, Source, edit_file};
use serde_json::{Value, json};

use super::Machine;

fn raw(value: Value) -> RawJson {
    RawJson::from(value)
}

#[test]
fn a_host_sees_what_holds_and_applies_its_own() {
    let machine = Machine::new();
    machine.project(json!({
        "permissions": { "allow": ["Bash(ls:*)"], "deny": ["Read(secret.txt)"] },
        "model": "opus",
    }));
    let flag = Some(json!({ "env": { "FROM_FLAG": "1" } }).to_string());
    let mut settings = machine.load_with(SettingsRequest { flag, ..crate::trusted() }).unwrap();
    let applied = |model: &str| AppliedSettings {
        model: model.to_owned(),
        effort: Maybe::Value("medium".to_owned()),
        ..AppliedSettings::default()
    };
    let project = json!({
        "permissions": { "allow": ["Bash(ls:*)"], "deny": ["Read(secret.txt)"] },
        "model": "opus",
    });
    assert_eq!(
        serde_json::to_value(settings.payload(applied("claude-opus-5-5"))).unwrap(),
        json!({
            "effective": {
                "permissions": { "allow": ["Bash(ls:*)"], "deny": ["Read(secret.txt)"] },
                "model": "opus",
                "env": { "FROM_FLAG": "1" },
            },
            "sources": [
                { "source": "projectSettings", "settings": project },
                { "source": "flagSettings", "settings": { "env": { "FROM_FLAG": "1" } } },
            ],
            "applied": { "model": "claude-opus-5-5", "effort": "medium" },
        })
    );

    let change = json!({
        "model": "claude-haiku-5-5", "permissions": { "allow": ["Bash(touch:*)"] },
    });
    settings.apply_flag_settings(&raw(change)).unwrap();
    assert_eq!(settings.known().model.as_deref(), Some("claude-haiku-5-5"));
    assert_eq!(
        serde_json::to_value(settings.payload(applied("claude-haiku-5-5"))).unwrap(),
        json!({
            "effective": {
                "permissions": {
                    "allow": ["Bash(ls:*)", "Bash(touch:*)"], "deny": ["Read(secret.txt)"],
                },
                "model": "claude-haiku-5-5",
                "env": { "FROM_FLAG": "1" },
            },
            "sources": [
                { "source": "projectSettings", "settings": project },
                { "source": "flagSettings", "settings": {
                    "env": { "FROM_FLAG": "1" },
                    "permissions": { "allow": ["Bash(touch:*)"] },
                    "model": "claude-haiku-5-5",
                } },
            ],
            "applied": { "model": "claude-haiku-5-5", "effort": "medium" },
        })
    );
}

#[test]
fn null_clears_and_a_key_replaces_what_was_applied_before() {
    let machine = Machine::new();
    machine.user(json!({ "model": "user" }));
    let flag = Some(json!({ "model": "flag", "permissions": { "deny": ["Write"] } }).to_string());
    let mut settings = machine.load_with(SettingsRequest { flag, ..crate::trusted() }).unwrap();
    settings.apply_flag_settings(&raw(json!({ "permissions": { "allow": ["A"] } }))).unwrap();
    settings.apply_flag_settings(&raw(json!({ "permissions": { "allow": ["B"] } }))).unwrap();
    let permissions = &settings.known().permissions;
    assert_eq!(permissions.allow, ["B"]);
    assert_eq!(permissions.deny, ["Write"], "settings given at the start stay");
    settings.apply_flag_settings(&raw(json!({ "model": null, "unknown": null }))).unwrap();
    assert_eq!(settings.known().model.as_deref(), Some("user"));
}

#[test]
fn a_bad_change_changes_nothing() {
    let machine = Machine::new();
    let mut settings = machine.load();
    let change = json!({ "model": "new", "env": 3, "permissions": { "allow": [1] } });
    let error = settings.apply_flag_settings(&raw(change)).unwrap_err().to_string();
    assert!(error.contains("env: ") && error.contains("permissions.allow[0]: "), "{error}");
    assert!(settings.effective().is_empty());
    assert!(settings.apply_flag_settings(&raw(json!([]))).is_err());
}

fn update(source: &str, settings: Value) -> UpdateSettings {
    UpdateSettings {
        source: source.to_owned(),
        settings: settings.into(),
        ..UpdateSettings::default()
    }
}

#[test]
fn a_host_can_write_a_few_keys_of_a_users_files() {
    let machine = Machine::new();
    machine.write("config/settings.json", "{\"zeta\": 1, \"effortLevel\": \"low\", \"alpha\": 2}");
    let mut settings = machine.load();
    let places = machine.places();
    settings.update(&places, &update("userSettings", json!({ "effortLevel": "high" }))).unwrap();
    assert_eq!(settings.known().effort_level.as_deref(), Some("high"));
    assert_eq!(
        fs::read_to_string(machine.path("config/settings.json")).unwrap(),
        "{\n  \"zeta\": 1,\n  \"effortLevel\": \"high\",\n  \"alpha\": 2\n}\n"
    );

    settings.update(&places, &update("localSettings", json!({ "outputStyle": "terse" }))).unwrap();
    let style = settings.get("outputStyle").unwrap();
    assert_eq!((style.value.as_str(), style.source), (Some("terse"), Source::Local));
    assert_eq!(machine.load().known().output_style.as_deref(), Some("terse"));
}

#[test]
fn a_host_can_write_nothing_else() {
    let machine = Machine::new();
    let mut settings = machine.load();
    let mut refused = |source, change| {
        let error = settings.update(&machine.places(), &update(source, change)).unwrap_err();
        error.to_string()
    };
    let change = json!({ "model": "m", "effortLevel": "low", "outputStyle": "s", "hooks": null });
    assert_eq!(
        refused("userSettings", change),
        "update_settings keys not allowed: model, outputStyle, hooks"
    );
    for (source, change, expected) in [
        ("projectSettings", json!({}), "source not allowed: projectSettings"),
        ("localSettings", json!({ "effortLevel": "low" }), "keys not allowed: effortLevel"),
        ("localSettings", json!({}), "needs a key"),
        ("localSettings", json!([]), "expected an object"),
        ("localSettings", json!({ "outputStyle": 1 }), "must be strings, and cannot be cleared"),
        ("localSettings", json!({ "outputStyle": null }), "must be strings"),
        ("userSettings", json!({ "effortLevel": "zzz" }), "unknown effort \"zzz\""),
    ] {
        let error = refused(source, change);
        assert!(error.contains(expected), "{error}");
    }
    for file in ["config/settings.json", "project/.claude/settings.local.json"] {
        assert!(!machine.path(file).exists());
    }
}

#[test]
fn a_file_that_is_not_json_is_never_overwritten() {
    let machine = Machine::new();
    machine.write("config/settings.json", "{ half");
    let path = machine.path("config/settings.json");
    let error = edit_file(Source::User, &path, |file| file.clear()).unwrap_err();
    assert!(matches!(error, SettingsError::Invalid(_)));
    assert_eq!(fs::read_to_string(path).unwrap(), "{ half");
}

#[test]
fn editing_leaves_no_drafts_and_keeps_links_and_modes() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let machine = Machine::new();
    machine.write("dotfiles/settings.json", "{}");
    let real = machine.path("dotfiles/settings.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(machine.path("config")).unwrap();
    let link = machine.path("config/settings.json");
    symlink(&real, &link).unwrap();
    edit_file(Source::User, &link, |file| {
        file.insert("model".to_owned(), "m".into());
    })
    .unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(machine.path("dotfiles")).unwrap().count(), 1);
    assert_eq!(machine.load().known().model.as_deref(), Some("m"));
}
