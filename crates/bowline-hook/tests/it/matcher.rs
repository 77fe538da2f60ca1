//! Which matchers match what.

use bowline_hook::Matcher;
use serde_json::json;

use super::{Reply, Rig, pre_tool_use, prompt};

#[track_caller]
fn check(matcher: &str, matched: &[&str], not_matched: &[&str]) {
    let parsed = Matcher::new(Some(matcher));
    for target in matched {
        assert!(parsed.matches(target), "`{matcher}` should match `{target}`");
    }
    for target in not_matched {
        assert!(!parsed.matches(target), "`{matcher}` should not match `{target}`");
    }
}

#[test]
fn empty_matcher_and_star_match_everything() {
    assert!(Matcher::new(None).matches("Bash"));
    check("", &["Bash", ""], &[]);
    check("*", &["Bash", ""], &[]);
}

#[test]
fn a_name_matches_itself_only() {
    check("Bash", &["Bash"], &["bash", "Ba", "ash", "BashOutput", ""]);
    check("Ba", &[], &["Bash"]);
    check("mcp__calc", &["mcp__calc"], &["mcp__calc__add"]);
}

#[test]
fn a_list_matches_each_of_its_names() {
    check("Write|Edit", &["Write", "Edit"], &["NotebookEdit", "Bash"]);
    check("Bash, Write", &["Bash", "Write"], &["Edit"]);
    check("Write | Edit", &["Write", "Edit"], &[]);
}

#[test]
fn anything_else_is_a_regular_expression_for_any_part() {
    check("^Ba", &["Bash"], &["aBash"]);
    check("B?sh", &["Bash", "sh"], &["Write"]);
    check("Bash*", &["Bas", "Bash", "Bashhh", "xBash"], &["Ba"]);
    check(".*", &["Bash", ""], &[]);
    check("mcp__calc__.*", &["mcp__calc__add"], &["mcp__calc"]);
    check("mcp__calc__*", &["mcp__calc__add", "mcp__calc_"], &["mcp__other__add"]);
    check("^(startup|resume)$", &["startup", "resume"], &["clear"]);
}

#[test]
fn an_invalid_expression_matches_nothing() {
    check("[", &[], &["Bash", "[", ""]);
}

#[test]
fn the_old_and_the_new_name_of_the_agent_tool_are_one() {
    check("Task", &["Task", "Agent"], &["TaskOutput"]);
    check("Agent", &["Task", "Agent"], &[]);
    check("Bash|Task", &["Agent"], &[]);
    check("^Task$", &["Agent"], &["TaskOutput"]);
}

#[tokio::test]
async fn a_matcher_on_an_event_without_targets_is_ignored() {
    let rig = Rig::new();
    rig.register(json!({ "UserPromptSubmit": [{ "matcher": "Bash", "hookCallbackIds": ["h1"] }] }));
    rig.reply("h1", Reply::Json(json!({})));
    assert_eq!(rig.run(prompt("hi")).await.ran, 1);
}

#[tokio::test]
async fn only_hooks_that_match_are_called() {
    let rig = Rig::new();
    rig.register(json!({ "PreToolUse": [
        { "matcher": "Write|Edit", "hookCallbackIds": ["edits"] },
        { "matcher": null, "hookCallbackIds": ["all"] },
        { "matcher": "[", "hookCallbackIds": ["broken"] },
    ] }));
    for id in ["edits", "all", "broken"] {
        rig.reply(id, Reply::Json(json!({})));
    }
    rig.run(pre_tool_use("Bash")).await;
    rig.run(pre_tool_use("Write")).await;
    let called = Vec::from_iter(
        rig.host
            .calls
            .lock()
            .unwrap()
            .iter()
            .map(|(id, input, _)| format!("{id} {}", input["tool_name"].as_str().unwrap())),
    );
    assert_eq!(called, ["all Bash", "edits Write", "all Write"]);
}
