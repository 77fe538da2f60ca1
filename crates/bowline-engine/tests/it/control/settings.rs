//! Settings while a session runs.

use serde_json::{Value, json};

use crate::rig::{Rig, text};

async fn apply(rig: &Rig, settings: Value) -> Result<Value, String> {
    rig.control(json!({"subtype": "apply_flag_settings", "settings": settings})).await
}

#[tokio::test]
async fn applied_settings_take_effect_at_once_and_can_be_cleared() {
    let rig = Rig::new();
    let settings = json!({
        "model": "claude-haiku-5-5", "effortLevel": "high", "outputStyle": "Terse",
        "permissions": {"allow": ["Bash(touch:*)"]},
    });
    assert_eq!(apply(&rig, settings.clone()).await, Ok(Value::Null));
    let answer = rig.control(json!({"subtype": "get_settings"})).await.unwrap();
    assert_eq!(answer["effective"], settings);
    assert_eq!(answer["sources"], json!([{"source": "flagSettings", "settings": settings}]));
    assert_eq!(answer["applied"]["model"], "claude-haiku-5-5");
    assert_eq!(answer["applied"]["effort"], "high");
    let rules = rig.control(json!({"subtype": "list_permission_rules"})).await.unwrap();
    let rule = &rules["state"]["rules"][0];
    assert_eq!((&rule["source"], &rule["rule"]), (&json!("flagSettings"), &json!("Bash(touch:*)")));

    apply(&rig, json!({"model": null, "permissions": null, "effortLevel": null})).await.unwrap();
    let answer = rig.control(json!({"subtype": "get_settings"})).await.unwrap();
    assert_eq!(answer["effective"], json!({"outputStyle": "Terse"}));
    assert_eq!(answer["applied"]["model"], "script");
    assert_eq!(answer["applied"]["effort"], "medium");
    let rules = rig.control(json!({"subtype": "list_permission_rules"})).await.unwrap();
    assert_eq!(rules["state"]["rules"], json!([]));
}

#[tokio::test]
async fn one_bad_value_keeps_all_from_being_applied() {
    let rig = Rig::new();
    let error = apply(&rig, json!({"model": 7, "effortLevel": "high"})).await.unwrap_err();
    assert!(error.contains("model"), "{error}");
    let answer = rig.control(json!({"subtype": "get_settings"})).await.unwrap();
    assert_eq!(answer["effective"], json!({}));
    assert_eq!(answer["applied"]["effort"], "medium");
}

#[tokio::test]
async fn rules_and_variables_reach_the_next_command() {
    let mut rig = Rig::new();
    let settings = json!({"env": {"GREETING": "ahoy"}, "permissions": {"deny": ["Bash(touch:*)"]}});
    apply(&rig, settings).await.unwrap();
    let script = "TOOL Bash {\"command\": \"echo $GREETING\"}\nNEXT\n\
                  TOOL Bash {\"command\": \"touch x\"}\nNEXT\nSAY done";
    let frames = rig.run(script).await;
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "user").map(text).collect();
    assert_eq!(results[0], "ahoy");
    assert!(results[1].contains("denied"), "{}", results[1]);
    assert!(!rig.path().join("x").exists());
    apply(&rig, json!({"env": null})).await.unwrap();
    let frames = rig.run("TOOL Bash {\"command\": \"echo [$GREETING]\"}\nNEXT\nSAY done").await;
    assert_eq!(text(frames.iter().find(|frame| frame["type"] == "user").unwrap()), "[]");
}

#[tokio::test]
async fn tool_forbidden_by_a_new_rule_is_missing_from_the_next_turn() {
    let mut rig = Rig::new();
    assert!(rig.run("SAY one").await[0]["tools"].as_array().unwrap().contains(&json!("Bash")));
    apply(&rig, json!({"permissions": {"deny": ["Bash"]}})).await.unwrap();
    assert!(!rig.run("SAY two").await[0]["tools"].as_array().unwrap().contains(&json!("Bash")));
}

#[tokio::test]
async fn hooks_of_settings_are_listed_and_run() {
    let mut rig = Rig::new();
    let file = rig.path().join("received");
    let command = format!("cat > {}", file.display());
    let hooks = json!({"UserPromptSubmit": [{"hooks": [{"type": "command", "command": command}]}]});
    apply(&rig, json!({"hooks": hooks})).await.unwrap();
    let listing = rig.control(json!({"subtype": "get_hooks_listing"})).await.unwrap();
    assert_eq!(listing["hooks"][0]["event"], "UserPromptSubmit");
    assert_eq!(listing["hooks"][0]["source"], "flagSettings");
    rig.run("SAY hi").await;
    assert!(std::fs::read_to_string(file).unwrap().contains("SAY hi"));
}

#[tokio::test]
async fn a_file_is_written_for_a_few_keys_only() {
    let mut rig = Rig::new();
    let update = |settings: Value| json!({"subtype": "update_settings", "source": "localSettings", "settings": settings});
    assert_eq!(rig.control(update(json!({"outputStyle": "terse"}))).await, Ok(json!({})));
    let written = std::fs::read_to_string(rig.path().join(".claude/settings.local.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), json!({"outputStyle": "terse"}));
    assert_eq!(rig.run("SAY x").await[0]["output_style"], "terse");
    let refused = rig.control(update(json!({"model": "opus"}))).await;
    assert_eq!(refused, Err("update_settings keys not allowed: model".to_owned()));
}
