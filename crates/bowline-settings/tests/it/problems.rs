//! Unusable settings: the problems that are reported, and the settings that are left out.

use bowline_settings::{Position, SettingsError, SettingsRequest};
use serde_json::{Value, json};

use super::Machine;

fn problems(machine: &Machine) -> Vec<String> {
    machine.load().problems().iter().map(ToString::to_string).collect()
}

#[test]
fn broken_json_is_reported_with_its_place_and_left_out() {
    let machine = Machine::new();
    machine.user(json!({ "model": "user" }));
    machine.write("project/.claude/settings.json", "{\n  \"model\": \"project\",\n  oops\n}\n");
    let settings = machine.load();
    assert_eq!(settings.known().model.as_deref(), Some("user"));
    let [problem] = settings.problems() else { panic!("{:?}", settings.problems()) };
    assert_eq!(problem.position, Some(Position { line: 3, column: 3 }));
    let file = machine.path("project/.claude/settings.json");
    assert_eq!(problem.to_string(), format!("{}:3:3: key must be a string", file.display()));
}

#[test]
fn settings_that_are_no_object_are_left_out() {
    let machine = Machine::new();
    machine.user(json!([1]));
    let file = machine.path("config/settings.json");
    assert_eq!(problems(&machine), [format!("{}:1:1: expected an object", file.display())]);
}

#[test]
fn an_empty_file_and_a_byte_order_mark_are_fine() {
    let machine = Machine::new();
    machine.write("config/settings.json", "\n");
    machine.write("project/.claude/settings.json", "\u{feff}{\"model\": \"m\"}");
    let settings = machine.load();
    assert!(settings.problems().is_empty());
    assert_eq!(settings.known().model.as_deref(), Some("m"));
}

#[test]
fn a_value_that_does_not_fit_is_left_out_alone() {
    let machine = Machine::new();
    machine.user(json!({
        "model": 5,
        "outputStyle": "terse",
        "permissions": { "allow": ["Bash", 7, "Read"], "deny": "Write" },
        "env": { "GOOD": "1", "BAD": [] },
        "cleanupPeriodDays": -1,
        "hooks": { "Stop": [{ "matcher": "x" }, { "hooks": [{ "type": "command" }] }] },
    }));
    let settings = machine.load();
    let file = machine.path("config/settings.json").display().to_string();
    let keys = Vec::from_iter(settings.problems().iter().map(|problem| {
        let text = problem.to_string();
        assert!(text.starts_with(&format!("{file}: ")), "{text}");
        problem.key.clone().unwrap()
    }));
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(
        sorted,
        [
            "cleanupPeriodDays",
            "env.BAD",
            "hooks.Stop[0]",
            "hooks.Stop[0].hooks[0]",
            "model",
            "permissions.allow[1]",
            "permissions.deny",
        ]
    );
    assert_eq!(
        Value::Object(settings.effective().clone()),
        json!({
            "outputStyle": "terse",
            "permissions": { "allow": ["Bash", "Read"] },
            "env": { "GOOD": "1" },
            "hooks": { "Stop": [{ "hooks": [] }] },
        })
    );
}

#[test]
fn requested_settings_must_be_usable() {
    let machine = Machine::new();
    let load = |flag: &str| {
        let request = SettingsRequest { flag: Some(flag.to_owned()), ..Default::default() };
        machine.load_with(request).unwrap_err()
    };
    let missing = machine.path("project/missing.json");
    assert_eq!(
        load("missing.json").to_string(),
        format!("settings file not found: {}", missing.display())
    );
    let SettingsError::Invalid(problem) = load("{\"model\": }") else { panic!() };
    assert_eq!(problem.position, Some(Position { line: 1, column: 11 }));
    machine.write("project/broken.json", "[1,");
    assert!(matches!(load("broken.json"), SettingsError::Invalid(_)));
}

#[test]
fn a_policy_that_cannot_be_read_is_not_ignored() {
    let machine = Machine::new();
    machine.write("managed/managed-settings.json", "{");
    let error = machine.load_with(SettingsRequest::default()).unwrap_err();
    assert!(matches!(error, SettingsError::Invalid(_)), "{error}");
}
