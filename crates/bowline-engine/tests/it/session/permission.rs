//! Permission requests: their receiver, the effect of a response, and a missing approver.

use bowline_engine::{HostError, PermissionPrompts};
use bowline_protocol::PermissionMode;
use serde_json::{Value, json};

use crate::rig::{Rig, shapes, text};

const TOUCH: &str = "TOOL Bash {\"command\": \"touch made.txt\"}\nNEXT\nSAY done";

fn result_of(frames: &[Value]) -> &Value {
    frames.iter().find(|frame| frame["type"] == "user").expect("a tool result")
}

#[tokio::test]
async fn an_allowed_call_runs() {
    let mut rig = Rig::new();
    rig.will_permit(json!({"behavior": "allow"}));
    let frames = rig.run(TOUCH).await;
    assert_eq!(
        shapes(&frames),
        [
            "init",
            "assistant:tool_use",
            "can_use_tool",
            "user:tool_result",
            "assistant:text",
            "result:success"
        ]
    );
    assert!(rig.path().join("made.txt").exists());
    let decision = &result_of(&frames)["tool_result_meta"][0]["permission_decision"];
    assert_eq!(decision["source"], "user_temporary");
}

#[tokio::test]
async fn a_changed_input_is_what_runs() {
    let mut rig = Rig::new();
    rig.will_permit(json!({"behavior": "allow", "updatedInput": {"command": "touch other.txt"}}));
    rig.run(TOUCH).await;
    assert!(rig.path().join("other.txt").exists());
    assert!(!rig.path().join("made.txt").exists());
}

#[tokio::test]
async fn denial_reaches_the_model_and_the_result() {
    let mut rig = Rig::new();
    rig.will_permit(json!({"behavior": "deny", "message": "not today"}));
    let frames = rig.run(TOUCH).await;
    assert_eq!(text(result_of(&frames)), "not today");
    let result = frames.last().unwrap();
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    assert_eq!(result["result"], "done");
    assert!(!rig.path().join("made.txt").exists());
}

#[tokio::test]
async fn interrupting_denial_ends_the_turn_but_not_the_session() {
    let mut rig = Rig::new();
    rig.will_permit(json!({"behavior": "deny", "message": "stop", "interrupt": true}));
    let frames = rig.run(TOUCH).await;
    assert_eq!(
        &shapes(&frames)[3..],
        ["user:tool_result", "user:text", "result:error_during_execution"]
    );
    assert_eq!(frames.last().unwrap()["terminal_reason"], "aborted_tools");
    assert_eq!(rig.run("SAY alive").await.last().unwrap()["result"], "alive");
}

#[tokio::test]
async fn invalid_or_failed_permission_response_is_a_denial() {
    let mut rig = Rig::new();
    rig.will_permit(json!({"behavior": "perhaps"}));
    assert!(text(result_of(&rig.run(TOUCH).await)).contains("invalid permission result"));
    rig.will_fail_to_permit(HostError::Refused("host failed".to_owned()));
    let frames = rig.run(TOUCH).await;
    assert_eq!(text(result_of(&frames)), "Tool permission request failed: Error: host failed");
    assert!(!rig.path().join("made.txt").exists());
}

#[tokio::test]
async fn call_is_denied_at_once_without_an_approver() {
    for prompts in [PermissionPrompts::Nobody, PermissionPrompts::Disabled] {
        let mut rig = Rig::with(|config| config.permission_prompts = prompts.clone());
        let frames = rig.run(TOUCH).await;
        assert_eq!(
            &shapes(&frames)[1..4],
            ["assistant:tool_use", "permission_denied", "user:tool_result"],
            "{prompts:?}"
        );
        assert_eq!(frames.last().unwrap()["permission_denials"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn rule_in_a_permission_response_applies_from_then_on() {
    let mut rig = Rig::new();
    rig.will_permit(json!({"behavior": "allow", "updatedPermissions": [{
        "type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{"toolName": "Bash", "ruleContent": "touch *"}]
    }]}));
    let asked = |frames: &[Value]| shapes(frames).contains(&"can_use_tool".to_owned());
    assert!(asked(&rig.run(TOUCH).await));
    assert!(!asked(&rig.run(TOUCH).await));
}

#[tokio::test]
async fn the_mode_decides_where_rules_are_silent() {
    let mut rig = Rig::with(|config| config.policy.mode = PermissionMode::AcceptEdits);
    let frames = rig.run("TOOL Write {\"file_path\": \"w.txt\", \"content\": \"w\"}\nNEXT\nSAY ok");
    let frames = frames.await;
    assert!(!shapes(&frames).contains(&"can_use_tool".to_owned()), "{frames:?}");
    assert_eq!(std::fs::read_to_string(rig.path().join("w.txt")).unwrap(), "w");
    let answer = rig.control(json!({"subtype": "set_permission_mode", "mode": "dontAsk"})).await;
    assert_eq!(answer.unwrap()["mode"], "dontAsk");
    let frames = rig.run("TOOL Bash {\"command\": \"curl x\"}\nNEXT\nSAY ok").await;
    assert!(shapes(&frames).contains(&"permission_denied".to_owned()));
}

#[tokio::test]
async fn tools_that_prompt_the_user_fail_without_an_approver() {
    let mut rig = Rig::with(|config| config.permission_prompts = PermissionPrompts::Nobody);
    let frames = rig.run("TOOL AskUserQuestion {}\nNEXT\nSAY done").await;
    let received = result_of(&frames)["message"]["content"][0]["content"].to_string();
    assert!(received.contains("AskUserQuestion is disabled for this session"), "{received}");
}

#[tokio::test]
async fn interrupting_denial_ends_permission_requests() {
    let mut rig = Rig::new();
    rig.will_permit(json!({"behavior": "deny", "message": "no", "interrupt": true}));
    let frames = rig
        .run("TOOL Bash {\"command\": \"touch a\"}\nTOOL Bash {\"command\": \"touch b\"}\nNEXT\nSAY x")
        .await;
    let asked = frames.iter().filter(|frame| frame["type"] == "can_use_tool").count();
    assert_eq!(asked, 1);
    let result = frames.last().unwrap();
    assert_eq!(result["permission_denials"].as_array().unwrap().len(), 1);
    assert_eq!(result["terminal_reason"], "aborted_tools");
}

#[tokio::test]
async fn an_empty_input_changes_nothing_and_a_wrong_one_is_refused() {
    let mut rig = Rig::new();
    let call = "TOOL Bash {\"command\": \"touch made.txt\"}\nNEXT\nSAY done";
    rig.will_permit(json!({"behavior": "allow", "updatedInput": {"command": 7}}));
    let frames = rig.run(call).await;
    let refused = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    let decision = &refused["tool_result_meta"][0]["permission_decision"];
    assert_eq!(decision["source"], "permission_updated_input_invalid");
    assert!(!rig.path().join("made.txt").exists());
    rig.will_permit(json!({"behavior": "allow", "updatedInput": {}}));
    rig.run(call).await;
    assert!(rig.path().join("made.txt").exists());
}

/// The hook receives the call and is cancelled; the first decision applies.
#[tokio::test]
async fn hooks_run_even_if_the_host_decides_at_once() {
    let mut rig = Rig::new();
    let hooks = json!({"PermissionRequest": [{"hookCallbackIds": ["first", "second"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    for behavior in ["allow", "deny"] {
        rig.will_permit(json!({"behavior": behavior, "message": "by the host"}));
        rig.will_not_hook().will_not_hook();
        let frames = rig.run(TOUCH).await;
        assert_eq!(
            &shapes(&frames)[2..6],
            [
                "can_use_tool",
                "hook:PermissionRequest",
                "hook:PermissionRequest",
                "user:tool_result"
            ]
        );
        assert_eq!(text(result_of(&frames)).contains("by the host"), behavior == "deny");
    }
}

#[tokio::test]
async fn host_wins_a_tie_with_a_hook() {
    let mut rig = Rig::new();
    let hooks = json!({"PermissionRequest": [{"hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.will_permit(json!({"behavior": "deny", "message": "by the host"}));
    rig.will_hook(json!({"hookSpecificOutput": {
        "hookEventName": "PermissionRequest", "decision": {"behavior": "allow"},
    }}));
    assert_eq!(text(result_of(&rig.run(TOUCH).await)), "by the host");
}
