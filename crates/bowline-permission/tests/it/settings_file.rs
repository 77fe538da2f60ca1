//! Settings files keep changes, and everything else as it was.

use std::{fs, os::unix::fs::PermissionsExt, thread};

use bowline_permission::{SettingsError, edit_settings, write_settings};
use bowline_protocol::PermissionUpdate;
use serde_json::{Value, json};

use super::bench::link;

fn add(rule: &str) -> PermissionUpdate {
    change("addRules", rule)
}

fn change(kind: &str, rule: &str) -> PermissionUpdate {
    serde_json::from_value(json!({
        "type": kind,
        "rules": [{ "toolName": "Bash", "ruleContent": rule }],
        "behavior": "allow",
        "destination": "localSettings",
    }))
    .unwrap()
}

#[test]
fn a_new_file_has_two_spaces_of_indent() {
    let expected = r#"{
  "permissions": {
    "allow": [
      "Bash(mkdir -p zz)"
    ]
  }
}
"#;
    assert_eq!(edit_settings("", &add("mkdir -p zz")).unwrap(), expected);
    assert_eq!(edit_settings(expected, &add("mkdir -p zz")).unwrap(), expected);
    assert_eq!(edit_settings("\u{feff}{}", &add("mkdir -p zz")).unwrap(), expected);
}

#[test]
fn other_keys_keep_their_position_and_text() {
    let before = r#"{
  "zebra": {"b": 1.00, "a": [1,2]},
  "permissions": {
    "deny": ["Read(.env)"],
    "allow": ["Bash(ls)"],
    "defaultMode": "plan"
  },
  "apple": "ü\n"
}"#;
    let after = r#"{
  "zebra": {"b": 1.00, "a": [1,2]},
  "permissions": {
    "deny": ["Read(.env)"],
    "allow": [
      "Bash(ls)",
      "Bash(a \"b\" \\(c\\))"
    ],
    "defaultMode": "plan"
  },
  "apple": "ü\n"
}
"#;
    assert_eq!(edit_settings(before, &add("a \"b\" (c)")).unwrap(), after);
}

#[test]
fn every_kind_of_change_is_kept() {
    let mut text = String::new();
    let mut apply = |value: Value| {
        let update: PermissionUpdate = serde_json::from_value(value).unwrap();
        text = edit_settings(&text, &update).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["permissions"].take()
    };
    let rules = |kind: &str, content: &str| {
        json!({ "type": kind, "rules": [{ "toolName": "Bash", "ruleContent": content }],
                "behavior": "ask", "destination": "userSettings" })
    };
    apply(rules("addRules", "a"));
    assert_eq!(apply(rules("addRules", "b")), json!({ "ask": ["Bash(a)", "Bash(b)"] }));
    assert_eq!(apply(rules("removeRules", "a")), json!({ "ask": ["Bash(b)"] }));
    assert_eq!(apply(rules("replaceRules", "c")), json!({ "ask": ["Bash(c)"] }));
    assert_eq!(apply(rules("removeRules", "c")), json!({ "ask": [] }));
    let mode = json!({ "type": "setMode", "mode": "acceptEdits", "destination": "userSettings" });
    assert_eq!(apply(mode)["defaultMode"], "acceptEdits");
    let directories =
        |kind: &str| json!({ "type": kind, "directories": ["/x"], "destination": "userSettings" });
    assert_eq!(apply(directories("addDirectories"))["additionalDirectories"], json!(["/x"]));
    assert_eq!(apply(directories("removeDirectories"))["additionalDirectories"], json!([]));
}

#[test]
fn a_file_is_created_replaced_and_keeps_its_mode_and_links() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(".claude/settings.local.json");
    write_settings(&path, &add("a")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let alias = directory.path().join("alias.json");
    link(&path, &alias);
    write_settings(&alias, &add("b")).unwrap();
    assert!(fs::symlink_metadata(&alias).unwrap().is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    let written: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(written, json!({ "permissions": { "allow": ["Bash(a)", "Bash(b)"] } }));
    let files = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(files, 1, "no temporary file stays behind");
}

#[test]
fn a_file_that_is_no_settings_file_stays_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("settings.json");
    for text in
        ["{ // comment\n}", "[]", "{\"permissions\": []}", "{\"permissions\": {\"allow\": 3}}"]
    {
        fs::write(&path, text).unwrap();
        let error = write_settings(&path, &add("a")).unwrap_err();
        assert!(matches!(error, SettingsError::NotSettings { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn changes_at_the_same_time_are_all_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("settings.json");
    thread::scope(|scope| {
        for number in 0..8 {
            let path = &path;
            scope.spawn(move || write_settings(path, &add(&number.to_string())).unwrap());
        }
    });
    let written: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(written["permissions"]["allow"].as_array().unwrap().len(), 8);
}
