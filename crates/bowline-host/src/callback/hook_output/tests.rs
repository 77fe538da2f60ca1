use std::{io, sync::Mutex};

use bowline_protocol::{
    HookInput, PermissionMode, PreToolUseOutput, SyncHookOutput, UpdateDestination,
};
use serde_json::{Value, json};

use super::*;

fn on(event: &str, output: HookOutput) -> Value {
    let input = json!({
        "session_id": "s", "transcript_path": "t", "cwd": "/", "hook_event_name": event,
        "tool_name": "Bash", "tool_input": {}, "tool_response": {}, "tool_use_id": "u",
        "tool_calls": [], "error": "e", "reason": "r", "permission_suggestions": [],
        "message": "m", "notification_type": "n", "prompt": "p", "expansion_type": "slash_command",
        "command_name": "c", "command_args": "", "source": "startup", "stop_hook_active": false,
        "agent_id": "a", "agent_type": "a", "agent_transcript_path": "t", "trigger": "manual",
        "custom_instructions": null, "compact_summary": "c", "from_model": "a", "to_model": "b",
        "requested_model": null, "mcp_server_name": "m", "action": "accept", "name": "n",
        "old_cwd": "/", "new_cwd": "/", "file_path": "/f", "event": "change", "turn_id": "t",
        "message_id": "m", "index": 0, "final": true, "delta": "d",
    });
    let input = HookInput::parse(&input.to_string()).unwrap();
    serde_json::to_value(output.for_event(&input.event)).unwrap()
}

/// Output with only event-specific fields.
fn specific(event: &str, fields: Value) -> Value {
    let mut expected = json!({"hookEventName": event});
    expected.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"hookSpecificOutput": expected})
}

/// What is logged while something is done.
fn logged(work: impl FnOnce()) -> String {
    let log = std::sync::Arc::new(Mutex::new(Vec::new()));
    struct Log(std::sync::Arc<Mutex<Vec<u8>>>);
    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let to = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || Log(to.clone()));
    tracing::subscriber::with_default(subscriber.finish(), work);
    let bytes = log.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn no_opinion_is_an_empty_output() {
    for event in HookSpecificOutput::TAGS {
        assert_eq!(on(event, HookOutput::default()), json!({}), "{event}");
    }
}

#[test]
fn every_field_of_every_event_has_a_word() {
    let none = HookOutput::default;
    let input = || json!({"command": "ls"});
    let mode = PermissionUpdate::set_mode(UpdateDestination::Session, PermissionMode::Plan);
    let ada = || ElicitationResponse::accept(json!({"name": "Ada"}).into());
    let context = || HookOutput::context("c");
    #[rustfmt::skip]
    let rows = [
        ("PreToolUse", HookOutput::allow(), json!({"permissionDecision": "allow"})),
        ("PreToolUse", HookOutput::deny("r"), json!({"permissionDecision": "deny", "permissionDecisionReason": "r"})),
        ("PreToolUse", HookOutput::ask().because("r"), json!({"permissionDecision": "ask", "permissionDecisionReason": "r"})),
        ("PreToolUse", HookOutput::defer(), json!({"permissionDecision": "defer"})),
        ("PreToolUse", none().with_input(&input()).unwrap(), json!({"updatedInput": input()})),
        ("PreToolUse", context(), json!({"additionalContext": "c"})),
        ("PostToolUse", context(), json!({"additionalContext": "c"})),
        ("PostToolUse", none().with_tool_output(&json!("o")).unwrap(), json!({"updatedToolOutput": "o"})),
        ("PostToolUse", none().with_mcp_tool_output(&json!("o")).unwrap(), json!({"updatedMCPToolOutput": "o"})),
        ("PostToolUse", none().with_classifier_context("c"), json!({"classifierContext": "c"})),
        ("PostToolUseFailure", context(), json!({"additionalContext": "c"})),
        ("PostToolBatch", context(), json!({"additionalContext": "c"})),
        ("Notification", context(), json!({"additionalContext": "c"})),
        ("UserPromptSubmit", context(), json!({"additionalContext": "c"})),
        ("UserPromptSubmit", none().with_session_title("t"), json!({"sessionTitle": "t"})),
        ("UserPromptSubmit", none().suppress_original_prompt(), json!({"suppressOriginalPrompt": true})),
        ("UserPromptExpansion", context(), json!({"additionalContext": "c"})),
        ("UserPromptExpansion", none().suppress_original_prompt(), json!({"suppressOriginalPrompt": true})),
        ("SessionStart", context(), json!({"additionalContext": "c"})),
        ("SessionStart", none().with_initial_user_message("p"), json!({"initialUserMessage": "p"})),
        ("SessionStart", none().with_session_title("t"), json!({"sessionTitle": "t"})),
        ("SessionStart", none().with_watch_paths(["/f"]), json!({"watchPaths": ["/f"]})),
        ("SessionStart", none().reload_skills(), json!({"reloadSkills": true})),
        ("Stop", context(), json!({"additionalContext": "c"})),
        ("SubagentStart", context(), json!({"additionalContext": "c"})),
        ("SubagentStop", context(), json!({"additionalContext": "c"})),
        ("PreModelSwitch", HookOutput::allow(), json!({"permissionDecision": "allow"})),
        ("PreModelSwitch", HookOutput::ask(), json!({"permissionDecision": "ask"})),
        ("PreModelSwitch", HookOutput::deny("r"), json!({"permissionDecision": "deny", "permissionDecisionReason": "r"})),
        ("PostModelSwitch", context(), json!({"additionalContext": "c"})),
        ("PermissionRequest", HookOutput::allow(), json!({"decision": {"behavior": "allow"}})),
        ("PermissionRequest", HookOutput::allow().with_input(&input()).unwrap(), json!({"decision": {"behavior": "allow", "updatedInput": input()}})),
        ("PermissionRequest", HookOutput::allow_from_now_on(vec![mode.clone()]), json!({"decision": {"behavior": "allow", "updatedPermissions": [mode]}})),
        ("PermissionRequest", HookOutput::deny("r"), json!({"decision": {"behavior": "deny", "message": "r"}})),
        ("PermissionRequest", HookOutput::deny_and_stop("r"), json!({"decision": {"behavior": "deny", "message": "r", "interrupt": true}})),
        ("PermissionDenied", HookOutput::retry(), json!({"retry": true})),
        ("Setup", context(), json!({"additionalContext": "c"})),
        ("Elicitation", HookOutput::answer(ada()), json!({"action": "accept", "content": {"name": "Ada"}})),
        ("Elicitation", HookOutput::answer(ElicitationResponse::cancel()), json!({"action": "cancel"})),
        ("ElicitationResult", HookOutput::answer(ElicitationResponse::decline()), json!({"action": "decline"})),
        ("WorktreeCreate", HookOutput::worktree("/w"), json!({"worktreePath": "/w"})),
        ("CwdChanged", none().with_watch_paths(["/f"]), json!({"watchPaths": ["/f"]})),
        ("FileChanged", none().with_watch_paths(["/f", "/g"]), json!({"watchPaths": ["/f", "/g"]})),
        ("MessageDisplay", HookOutput::display("d"), json!({"displayContent": "d"})),
    ];
    for event in HookSpecificOutput::TAGS {
        assert!(rows.iter().any(|(name, ..)| name == event), "{event} has a row");
    }
    let log = logged(|| {
        for (event, output, fields) in rows {
            assert_eq!(on(event, output.clone()), specific(event, fields), "{event}: {output:?}");
        }
    });
    assert_eq!(log, "");
}

#[test]
fn common_fields_apply_to_every_event() {
    let output = HookOutput::stop("enough")
        .with_system_message("hello")
        .with_terminal_sequence("\u{7}")
        .suppress_output();
    let expected = json!({
        "continue": false, "stopReason": "enough", "systemMessage": "hello",
        "terminalSequence": "\u{7}", "suppressOutput": true,
    });
    for event in HookSpecificOutput::TAGS {
        assert_eq!(on(event, output.clone()), expected, "{event}");
    }
    assert_eq!(on("Stop", HookOutput::in_background()), json!({"async": true}));
    let limited = HookOutput::in_background_within(Duration::from_secs(2));
    assert_eq!(on("Stop", limited), json!({"async": true, "asyncTimeout": 2000}));
}

#[test]
fn a_refusal_that_has_no_form_of_its_own_blocks() {
    for event in ["PostToolUse", "UserPromptSubmit", "Stop", "PreCompact", "ConfigChange"] {
        let expected = json!({"decision": "block", "reason": "no"});
        assert_eq!(on(event, HookOutput::block("no")), expected, "{event}");
        assert_eq!(on(event, HookOutput::allow()), json!({}), "{event}");
    }
    let expected = json!({
        "continue": false, "stopReason": "no", "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
        },
    });
    assert_eq!(on("PreToolUse", HookOutput::deny_and_stop("no")), expected);
}

#[test]
fn output_is_accepted_in_wire_form() {
    let wire_form =
        PreToolUseOutput { additional_context: Some("c".to_owned()), ..Default::default() };
    let output =
        HookOutput::from(HookSpecificOutput::PreToolUse(wire_form.clone())).suppress_output();
    let mut expected = specific("PreToolUse", json!({"additionalContext": "c"}));
    expected["suppressOutput"] = json!(true);
    assert_eq!(on("PreToolUse", output.clone()), expected);
    let log = logged(|| assert_eq!(on("Stop", output), json!({"suppressOutput": true})));
    assert!(log.contains("event=Stop") && log.contains("hookSpecificOutput"), "{log}");
    let whole = SyncHookOutput {
        hook_specific_output: Some(HookSpecificOutput::PreToolUse(wire_form)),
        ..SyncHookOutput::default()
    };
    let whole = HookOutput::from(wire::HookOutput::from(whole));
    let log = logged(|| {
        let expected = specific("PreToolUse", json!({"additionalContext": "c"}));
        assert_eq!(on("PreToolUse", whole.because("x")), expected);
    });
    assert!(log.contains("left_out=\"reason\""), "{log}");
}

#[test]
fn inapplicable_fields_are_left_out_with_a_warning() {
    let title = || HookOutput::context("c").with_session_title("t").with_watch_paths(["/f"]);
    let left_out = [
        ("PreToolUse", title(), "sessionTitle, watchPaths"),
        ("PreCompact", title(), "additionalContext, sessionTitle, watchPaths"),
        ("PreModelSwitch", HookOutput::defer(), "permissionDecision"),
        ("PermissionRequest", HookOutput::ask(), "permissionDecision"),
        ("Stop", HookOutput::allow().because("r"), "reason"),
        ("Stop", HookOutput::in_background().with_context("c"), "additionalContext"),
    ];
    for (event, output, names) in left_out {
        let log = logged(|| drop(on(event, output)));
        assert!(log.contains(" WARN ") && log.contains(&format!("event={event}")), "{log}");
        assert!(log.contains(&format!("left_out=\"{names}\"")), "{event}: {log}");
    }
}
