//! Responses of hooks of the rarer events.

use bowline_hook::HookReport;
use bowline_protocol::ElicitationAction;
use serde_json::{Value, json};

use super::{Reply, Rig};

/// Answers an event with what is specific to it.
async fn answer(event: Value, mut fields: Value) -> HookReport {
    let name = event["hook_event_name"].as_str().unwrap().to_owned();
    fields["hookEventName"] = name.as_str().into();
    let rig = Rig::callback(&name, Reply::Json(json!({ "hookSpecificOutput": fields })));
    let report = rig.run(event).await;
    assert_eq!((report.ran, report.failures.as_slice()), (1, [].as_slice()));
    report
}

#[tokio::test]
async fn a_session_start_can_set_things_up() {
    let report = answer(
        json!({ "hook_event_name": "SessionStart", "source": "startup" }),
        json!({
            "initialUserMessage": "begin", "sessionTitle": "t", "watchPaths": ["a", "b"],
            "reloadSkills": true, "additionalContext": "c",
        }),
    )
    .await;
    assert_eq!(report.hook_name, "SessionStart:startup");
    assert_eq!(report.initial_user_message.as_deref(), Some("begin"));
    assert_eq!(report.session_title.as_deref(), Some("t"));
    assert_eq!(report.watch_paths.as_deref(), Some(["a".to_owned(), "b".to_owned()].as_slice()));
    assert!(report.reload_skills);
}

#[tokio::test]
async fn an_elicitation_can_be_answered() {
    let report = answer(
        json!({ "hook_event_name": "Elicitation", "mcp_server_name": "std", "message": "name?" }),
        json!({ "action": "accept", "content": { "name": "n" } }),
    )
    .await;
    let answer = report.elicitation.unwrap();
    assert_eq!(answer.action, Some(ElicitationAction::Accept));
    assert_eq!(answer.content.unwrap().to_value(), json!({ "name": "n" }));
}

#[tokio::test]
async fn a_denied_call_can_be_tried_again() {
    let report = answer(
        json!({
            "hook_event_name": "PermissionDenied", "tool_name": "Bash", "tool_input": {},
            "tool_use_id": "t", "reason": "r",
        }),
        json!({ "retry": true }),
    )
    .await;
    assert!(report.retry);
}

#[tokio::test]
async fn a_worktree_and_a_text_can_be_provided() {
    let report = answer(
        json!({ "hook_event_name": "WorktreeCreate", "name": "w" }),
        json!({ "worktreePath": "/w" }),
    )
    .await;
    assert_eq!(report.worktree_path.as_deref(), Some("/w"));

    let report = answer(
        json!({
            "hook_event_name": "MessageDisplay", "turn_id": "t", "message_id": "m", "index": 0,
            "final": true, "delta": "hello",
        }),
        json!({ "displayContent": "HELLO" }),
    )
    .await;
    assert_eq!(report.display_content.as_deref(), Some("HELLO"));
}

#[tokio::test]
async fn an_internal_fork_has_a_plain_name() {
    let rig = Rig::callback("SubagentStop", Reply::Json(json!({})));
    let report = rig
        .run(json!({
            "hook_event_name": "SubagentStop", "agent_id": "a", "agent_type": "",
            "agent_transcript_path": "/a.jsonl", "stop_hook_active": false,
        }))
        .await;
    assert_eq!(report.hook_name, "SubagentStop");
}
