//! Tool calls without a conversation: the same rules, hooks and permission requests as in one.

use std::time::Duration;

use bowline_engine::{DirectCall, DirectResult, PermissionPrompts, SessionConfig};
use bowline_protocol::{PermissionBehavior, RawJson};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::rig::Rig;

fn call(tool: &str, input: Value, prompts: PermissionPrompts) -> DirectCall {
    DirectCall { id: "call_1".into(), tool: tool.to_owned(), input: RawJson::from(input), prompts }
}

async fn run(rig: &Rig, call: DirectCall) -> DirectResult {
    rig.session.call_tool(call, CancellationToken::new()).await
}

fn text(result: &DirectResult) -> &str {
    result.content[0].as_text().unwrap()
}

fn touch() -> Value {
    json!({"command": "touch made.txt"})
}

#[tokio::test]
async fn tools_are_listed_without_those_that_need_a_conversation() {
    let rig = Rig::new();
    let names: Vec<_> = rig.session.tools().iter().map(|spec| spec.name.to_string()).collect();
    assert!(names.contains(&"Bash".to_owned()) && names.contains(&"Read".to_owned()));
    assert!(!names.contains(&"Agent".to_owned()) && !names.contains(&"ExitPlanMode".to_owned()));
    let result = run(&rig, call("Agent", json!({}), PermissionPrompts::Host)).await;
    assert!(result.is_error);
}

#[tokio::test]
async fn direct_call_without_permission_returns_structured_output() {
    let rig = Rig::new();
    std::fs::write(rig.path().join("a.txt"), "hello\n").unwrap();
    let path = rig.path().canonicalize().unwrap().join("a.txt");
    let result =
        run(&rig, call("Read", json!({"file_path": path}), PermissionPrompts::Nobody)).await;
    assert!(text(&result).contains("hello"), "{result:?}");
    assert!(!result.is_error);
    assert_eq!(result.structured.unwrap()["type"], "text");
}

#[tokio::test]
async fn direct_call_without_an_approver_is_denied() {
    let mut rig = Rig::new();
    let result = run(&rig, call("Bash", touch(), PermissionPrompts::Nobody)).await;
    assert!(result.is_error);
    assert_eq!(result.denial.unwrap().tool_name, "Bash");
    assert!(!rig.path().join("made.txt").exists());
    assert!(rig.received().iter().all(|frame| frame["type"] != "can_use_tool"));
}

#[tokio::test]
async fn host_may_change_the_input_of_a_direct_call() {
    let mut rig = Rig::new();
    rig.will_permit(json!({"behavior": "allow", "updatedInput": {"command": "touch other.txt"}}));
    let result = run(&rig, call("Bash", touch(), PermissionPrompts::Host)).await;
    assert!(!result.is_error, "{result:?}");
    assert!(rig.path().join("other.txt").exists());
    let asked = rig.received().into_iter().find(|frame| frame["type"] == "can_use_tool").unwrap();
    assert_eq!(asked["question"]["tool_use_id"], "call_1");
}

#[tokio::test]
async fn rules_decide_as_they_do_in_a_turn() {
    let rig = Rig::with(|config: &mut SessionConfig| {
        let typed = bowline_engine::permission::RuleSource::CliArg;
        config.policy.rules.add(typed, &PermissionBehavior::Allow, "Bash(touch *)");
        config.policy.rules.add(typed, &PermissionBehavior::Deny, "Bash(touch secret*)");
    });
    let result = run(&rig, call("Bash", touch(), PermissionPrompts::Nobody)).await;
    assert!(!result.is_error, "{result:?}");
    let secret = json!({"command": "touch secret.txt"});
    let result = run(&rig, call("Bash", secret, PermissionPrompts::Host)).await;
    assert!(result.is_error && result.denial.is_some());
}

#[tokio::test]
async fn hooks_see_the_call() {
    let mut rig = Rig::new();
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["guard"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.will_hook(json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": "the guard says no",
    }}));
    let result = run(&rig, call("Bash", touch(), PermissionPrompts::Host)).await;
    assert!(text(&result).contains("the guard says no"), "{result:?}");
    assert!(rig.received().iter().any(|frame| frame["type"] == "hook_callback"));
}

#[tokio::test]
async fn undecided_hook_does_not_keep_a_permission_request_open() {
    let rig = Rig::new();
    let hooks = json!({"PermissionRequest": [{"matcher": "Bash", "hookCallbackIds": ["shrug"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    let run = run(&rig, call("Bash", touch(), PermissionPrompts::Nobody));
    let result = tokio::time::timeout(Duration::from_secs(60), run).await.unwrap();
    assert!(result.is_error);
}

#[tokio::test]
async fn direct_call_with_invalid_input_names_the_fault() {
    let rig = Rig::new();
    let result = run(&rig, call("Read", json!({"path": 1}), PermissionPrompts::Host)).await;
    assert!(text(&result).contains("`file_path` is missing"), "{result:?}");
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_soon() {
    let rig = Rig::new();
    let cancel = CancellationToken::new();
    let sleep = json!({"command": "touch began && sleep 60"});
    let call = call("Bash", sleep, PermissionPrompts::Host);
    let running = tokio::spawn({
        let (session, cancel) = (rig.session.clone(), cancel.clone());
        async move { session.call_tool(call, cancel).await }
    });
    let began = rig.path().join("began");
    while !began.exists() {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    let result = tokio::time::timeout(Duration::from_secs(60), running).await.unwrap().unwrap();
    assert!(result.is_error);
}

#[tokio::test]
async fn pending_permission_request_does_not_block_other_calls() {
    let mut rig = Rig::new();
    rig.will_not_answer();
    let cancel = CancellationToken::new();
    let asking = tokio::spawn({
        let (session, cancel) = (rig.session.clone(), cancel.clone());
        let call = call("Bash", touch(), PermissionPrompts::Host);
        async move { session.call_tool(call, cancel).await }
    });
    rig.until(|frame| frame["type"] == "can_use_tool").await;
    let write = json!({"command": "touch other.txt"});
    let other = run(&rig, call("Bash", write, PermissionPrompts::Host));
    let other = tokio::time::timeout(Duration::from_secs(60), other).await.unwrap();
    assert!(!other.is_error, "{other:?}");
    cancel.cancel();
    assert!(asking.await.unwrap().is_error);
}

#[tokio::test]
async fn calls_that_are_not_safe_beside_others_wait_for_each_other() {
    let rig = Rig::with(|config: &mut SessionConfig| {
        let typed = bowline_engine::permission::RuleSource::CliArg;
        config.policy.rules.add(typed, &PermissionBehavior::Allow, "Bash");
    });
    // Each would see the other's file if both ran concurrently.
    let command = "test ! -e busy && touch busy && sleep 0.2 && rm busy";
    let bash = || call("Bash", json!({"command": command}), PermissionPrompts::Nobody);
    let (first, second) = tokio::join!(run(&rig, bash()), run(&rig, bash()));
    assert!(!first.is_error && !second.is_error, "{first:?} {second:?}");
}
