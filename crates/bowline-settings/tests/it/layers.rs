//! Which layers there are and which of them wins.

use bowline_protocol::PermissionMode;
use bowline_settings::{Settings, SettingsRequest, Source, SourceSet};
use serde_json::{Value, json};

use super::Machine;

fn effective(settings: &Settings) -> Value {
    Value::Object(settings.effective().clone())
}

#[test]
fn missing_files_are_empty_settings() {
    let settings = Machine::new().load();
    assert_eq!(effective(&settings), json!({}));
    assert!(settings.problems().is_empty());
    assert_eq!(settings.known().model, None);
}

#[test]
fn a_higher_layer_wins() {
    let machine = Machine::new();
    let request =
        SettingsRequest { flag: Some(json!({ "model": "flag" }).to_string()), ..crate::trusted() };
    let model = |request: &SettingsRequest| {
        let settings = machine.load_with(request.clone()).unwrap();
        let model = settings.get("model").unwrap();
        (model.value.as_str().unwrap().to_owned(), model.source)
    };
    machine.user(json!({ "model": "user" }));
    assert_eq!(model(&SettingsRequest::default()), ("user".to_owned(), Source::User));
    machine.project(json!({ "model": "project" }));
    assert_eq!(model(&SettingsRequest::default()), ("project".to_owned(), Source::Project));
    machine.local(json!({ "model": "local" }));
    assert_eq!(model(&SettingsRequest::default()), ("local".to_owned(), Source::Local));
    assert_eq!(model(&request), ("flag".to_owned(), Source::Flag));
    machine.managed(json!({ "model": "managed" }));
    assert_eq!(model(&request), ("managed".to_owned(), Source::Policy));
}

#[test]
fn lists_are_united_and_objects_merged() {
    let machine = Machine::new();
    machine.user(json!({
        "permissions": { "allow": ["A", "B"], "defaultMode": "plan" },
        "env": { "ONE": "user", "TWO": "user" },
        "unknown": { "kept": [1] },
    }));
    machine.project(json!({
        "permissions": { "allow": ["B", "C"], "defaultMode": "acceptEdits" },
        "env": { "TWO": "project", "THREE": 3, "FOUR": true },
    }));
    let settings = machine.load();
    assert_eq!(
        effective(&settings),
        json!({
            "permissions": { "allow": ["A", "B", "C"], "defaultMode": "acceptEdits" },
            "env": { "ONE": "user", "TWO": "project", "THREE": 3, "FOUR": true },
            "unknown": { "kept": [1] },
        })
    );
    let known = settings.known();
    assert_eq!(known.permissions.default_mode, Some(PermissionMode::AcceptEdits));
    let env = Vec::from_iter(known.env.iter().map(|(name, value)| format!("{name}={value}")));
    assert_eq!(env, ["FOUR=true", "ONE=user", "THREE=3", "TWO=project"]);
}

#[test]
fn every_value_can_be_traced() {
    let machine = Machine::new();
    machine.user(json!({ "permissions": { "allow": ["A"] }, "env": { "X": "1" } }));
    machine.local(json!({ "permissions": { "allow": ["B"] } }));
    let settings = machine.load();
    let allow = settings.get("permissions.allow").unwrap();
    assert_eq!(*allow.value, json!(["A", "B"]));
    assert_eq!(allow.source, Source::Local);
    let parts = settings.origins("permissions.allow");
    let parts = Vec::from_iter(parts.map(|(layer, value)| (layer.source, value.clone())));
    assert_eq!(parts, [(Source::User, json!(["A"])), (Source::Local, json!(["B"]))]);
    let x = settings.get("env.X").unwrap();
    assert_eq!((x.source, x.path), (Source::User, Some(&*machine.path("config/settings.json"))));
    assert_eq!(settings.get("env.Y"), None);
    assert_eq!(settings.get("env.X.deeper"), None);
}

#[test]
fn files_can_be_left_out() {
    let machine = Machine::new();
    machine.user(json!({ "a": 1 }));
    machine.project(json!({ "b": 1 }));
    machine.local(json!({ "c": 1 }));
    machine.managed(json!({ "d": 1 }));
    for (list, expected) in [
        ("user,project,local", json!({ "a": 1, "b": 1, "c": 1, "d": 1 })),
        ("project", json!({ "b": 1, "d": 1 })),
        ("user, local", json!({ "a": 1, "c": 1, "d": 1 })),
        ("", json!({ "d": 1 })),
    ] {
        let sources: SourceSet = list.parse().unwrap();
        let settings = machine.load_with(SettingsRequest { sources, ..crate::trusted() });
        assert_eq!(effective(&settings.unwrap()), expected, "{list}");
    }
    let error = "user,managed".parse::<SourceSet>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid setting source: managed. Valid options are: user, project, local"
    );
}

#[test]
fn managed_settings_come_in_parts() {
    let machine = Machine::new();
    machine.managed(json!({ "model": "main", "x": ["main"] }));
    machine.write("managed/managed-settings.d/20-b.json", json!({ "model": "b", "x": ["b"] }));
    machine.write("managed/managed-settings.d/10-a.json", json!({ "model": "a", "x": ["a"] }));
    machine.write("managed/managed-settings.d/.hidden.json", json!({ "model": "hidden" }));
    machine.write("managed/managed-settings.d/notes.txt", "no settings");
    assert_eq!(effective(&machine.load()), json!({ "model": "b", "x": ["main", "a", "b"] }));

    let managed = Some(json!({ "model": "argument" }).to_string());
    let settings = machine.load_with(SettingsRequest { managed, ..Default::default() }).unwrap();
    assert_eq!(settings.known().model.as_deref(), Some("argument"));
}

#[test]
fn the_flag_names_a_file_or_is_the_settings() {
    let machine = Machine::new();
    machine.write("project/extra.json", json!({ "model": "file" }));
    let load = |flag: &str| {
        machine.load_with(SettingsRequest { flag: Some(flag.to_owned()), ..Default::default() })
    };
    let absolute = machine.path("project/extra.json");
    for flag in ["extra.json", absolute.to_str().unwrap(), " { \"model\": \"file\" } "] {
        assert_eq!(load(flag).unwrap().known().model.as_deref(), Some("file"), "{flag}");
    }
}

#[test]
fn a_file_with_two_roles_is_read_once() {
    let machine = Machine::new();
    machine.write("home/.claude/settings.json", json!({ "x": [1] }));
    let mut places = machine.places();
    places.config_dir = machine.path("home/.claude");
    places.project = machine.path("home");
    let settings = Settings::load(&places, &crate::trusted()).unwrap();
    assert_eq!(settings.get("x").unwrap().source, Source::User);
}

#[test]
fn a_fallback_model_is_one_or_several() {
    let machine = Machine::new();
    for (value, expected) in [(json!("a, b"), ["a", "b"]), (json!(["a", "b"]), ["a", "b"])] {
        machine.user(json!({ "fallbackModel": value }));
        assert_eq!(machine.load().known().fallback_model, expected);
    }
}
