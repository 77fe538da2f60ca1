//! Effects of the responses of callbacks.

use bowline_hook::{BlockKind, FailureKind, HookText, StopRequest, texts};
use bowline_protocol::{HookEvent, HookPermissionDecision, HookPermissionResult};
use serde_json::{Value, json};

use super::{Reply, Rig, post_tool_use, pre_tool_use, prompt, stop};

fn specific(event: &str, mut fields: Value) -> Reply {
    fields["hookEventName"] = event.into();
    Reply::Json(json!({ "hookSpecificOutput": fields }))
}

#[tokio::test]
async fn callback_receives_input_and_call_id() {
    let rig = Rig::callback("PreToolUse", Reply::Json(json!({})));
    let report = rig.run(pre_tool_use("Bash")).await;
    assert_eq!((report.ran, report.hook_name.as_str()), (1, "PreToolUse:Bash"));
    let calls = rig.host.calls.lock().unwrap();
    let (id, input, tool_use_id) = &calls[0];
    assert_eq!((id.as_str(), tool_use_id.as_str()), ("h1", "toolu_1"));
    assert_eq!(
        *input,
        json!({
            "session_id": "s1",
            "transcript_path": "/t.jsonl",
            "cwd": rig.folder.path(),
            "permission_mode": "default",
            "effort": { "level": "medium" },
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": { "command": "ls" },
            "tool_use_id": "toolu_1",
        })
    );
    assert!(rig.recorder.0.lock().unwrap().is_empty(), "callbacks have no lifecycle messages");
}

#[tokio::test]
async fn a_call_that_is_not_about_a_tool_has_an_id_of_its_own() {
    let rig = Rig::callback("Stop", Reply::Json(json!({})));
    rig.run(stop()).await;
    assert_eq!(rig.host.calls.lock().unwrap()[0].2.len(), 36);
}

#[tokio::test]
async fn deny_and_the_older_block_keep_a_tool_from_running() {
    let deny = json!({ "permissionDecision": "deny", "permissionDecisionReason": "because hook" });
    for reply in [
        specific("PreToolUse", deny),
        Reply::Json(json!({ "decision": "block", "reason": "because hook" })),
    ] {
        let report = Rig::callback("PreToolUse", reply).run(pre_tool_use("Bash")).await;
        let verdict = report.verdict.as_ref().unwrap();
        assert_eq!(verdict.decision, HookPermissionDecision::Deny);
        assert_eq!(verdict.reason.as_deref(), Some("because hook"));
        let told = "PreToolUse:Bash hook error: because hook";
        assert_eq!(report.tool_refusal().as_deref(), Some(told));
        assert_eq!(report.blocks[0].kind, BlockKind::Objection);
    }
}

#[tokio::test]
async fn the_strictest_decision_wins() {
    let order = ["allow", "ask", "defer", "deny"];
    for (strict, winner) in order.iter().enumerate() {
        for loser in &order[..=strict] {
            for pair in [[winner, loser], [loser, winner]] {
                let rig = Rig::new();
                rig.register(json!({ "PreToolUse": [{ "hookCallbackIds": ["0", "1"] }] }));
                for (id, decision) in pair.into_iter().enumerate() {
                    let fields = json!({ "permissionDecision": decision });
                    rig.reply(&id.to_string(), specific("PreToolUse", fields));
                }
                let verdict = rig.run(pre_tool_use("Bash")).await.verdict.unwrap();
                assert_eq!(verdict.decision.as_str(), *winner, "of {pair:?}");
            }
        }
    }
}

#[tokio::test]
async fn approve_means_allow() {
    let rig = Rig::callback("PreToolUse", Reply::Json(json!({ "decision": "approve" })));
    let report = rig.run(pre_tool_use("Bash")).await;
    assert_eq!(report.verdict.unwrap().decision, HookPermissionDecision::Allow);
}

#[tokio::test]
async fn the_last_new_input_counts_and_contexts_keep_their_order() {
    let rig = Rig::new();
    rig.register(json!({ "PreToolUse": [{ "hookCallbackIds": ["a", "b", "c"] }] }));
    let answer = |input: Option<&str>, context: &str| {
        let mut fields = json!({ "additionalContext": context });
        if let Some(input) = input {
            fields["updatedInput"] = json!({ "command": input });
        }
        specific("PreToolUse", fields)
    };
    rig.reply("a", answer(Some("one"), "first"));
    rig.reply("b", answer(Some("two"), "second"));
    rig.reply("c", answer(None, "third"));
    let report = rig.run(pre_tool_use("Bash")).await;
    assert_eq!(report.updated_input.as_ref().unwrap().to_value(), json!({ "command": "two" }));
    assert_eq!(report.verdict, None, "new input is no decision");
    assert_eq!(
        Vec::from_iter(report.model_texts()),
        ["first", "second", "third"]
            .map(|text| format!("PreToolUse:Bash hook additional context: {text}"))
    );
}

#[tokio::test]
async fn after_a_tool_hooks_add_object_and_replace() {
    let rig = Rig::callback(
        "PostToolUse",
        Reply::Json(json!({
            "decision": "block",
            "reason": "look again",
            "hookSpecificOutput": {
                "hookEventName": "PostToolUse",
                "additionalContext": "extra fact",
                "updatedToolOutput": { "stdout": "new" },
            },
        })),
    );
    let report = rig.run(post_tool_use("Bash")).await;
    let told = "PostToolUse:Bash hook blocking error from command: \"callback\": look again";
    assert_eq!(Vec::from_iter(report.objections()), [told]);
    assert_eq!(
        Vec::from_iter(report.model_texts()),
        ["PostToolUse:Bash hook additional context: extra fact"]
    );
    assert_eq!(report.updated_output.unwrap().to_value(), json!({ "stdout": "new" }));
    assert_eq!(report.verdict, None);
}

#[tokio::test]
async fn continue_false_asks_for_the_end() {
    let reply = Reply::Json(json!({ "continue": false, "stopReason": "enough" }));
    let report = Rig::callback("PostToolUse", reply).run(post_tool_use("Bash")).await;
    assert_eq!(report.stop, Some(StopRequest { reason: Some("enough".to_owned()) }));
    assert!(report.blocks.is_empty());
    assert_eq!(texts::stopped("enough"), "Operation stopped by hook: enough");
}

#[tokio::test]
async fn a_prompt_can_be_blocked_or_added_to() {
    let reply = Reply::Json(json!({ "decision": "block", "reason": "no such prompts" }));
    let report = Rig::callback("UserPromptSubmit", reply).run(prompt("SAY hi")).await;
    assert_eq!(
        texts::prompt_blocked(&report.blocks[0].reason, "SAY hi"),
        "UserPromptSubmit operation blocked by hook:\nno such prompts\n\nOriginal prompt: SAY hi"
    );

    let reply =
        specific("UserPromptSubmit", json!({ "additionalContext": "c", "sessionTitle": "t" }));
    let report = Rig::callback("UserPromptSubmit", reply).run(prompt("hi")).await;
    assert_eq!(
        Vec::from_iter(report.model_texts()),
        ["UserPromptSubmit hook additional context: c"]
    );
    assert_eq!(report.session_title.as_deref(), Some("t"));
}

#[tokio::test]
async fn the_end_of_a_turn_can_be_put_off() {
    let reply = Reply::Json(json!({ "decision": "block", "reason": "not yet" }));
    let report = Rig::callback("Stop", reply).run(stop()).await;
    assert!(report.has_errors());
    assert_eq!(
        texts::stop_feedback(&HookEvent::Stop, &report.blocks[0].reason),
        "Stop hook feedback:\nnot yet"
    );

    let reply = specific("Stop", json!({ "additionalContext": "one more thing" }));
    let report = Rig::callback("Stop", reply).run(stop()).await;
    assert!(!report.has_errors());
    assert_eq!(report.contexts, [HookText::Context("one more thing".to_owned())]);
}

#[tokio::test]
async fn a_message_for_the_user_is_only_for_the_user() {
    let reply = Reply::Json(json!({ "systemMessage": "note to user", "suppressOutput": true }));
    let report = Rig::callback("PreToolUse", reply).run(pre_tool_use("Bash")).await;
    assert_eq!(Rig::notices(&report), [(None, "notice", "PreToolUse:Bash says: note to user")]);
    assert_eq!(report.notices[0].session_id.as_str(), "s1");
    assert_eq!(report.model_texts().count(), 0);
}

#[tokio::test]
async fn a_permission_is_decided_and_a_deny_wins() {
    let event =
        json!({ "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {} });
    let rig = Rig::new();
    rig.register(json!({ "PermissionRequest": [{ "hookCallbackIds": ["yes", "no"] }] }));
    rig.reply("yes", specific("PermissionRequest", json!({ "decision": { "behavior": "allow" } })));
    let no = json!({ "decision": { "behavior": "deny", "message": "m", "interrupt": true } });
    rig.reply("no", specific("PermissionRequest", no));
    let Some(HookPermissionResult::Deny(deny)) = rig.run(event).await.permission else {
        panic!("a deny wins");
    };
    assert_eq!((deny.message.as_deref(), deny.interrupt), (Some("m"), Some(true)));
}

#[tokio::test]
async fn errors_and_bad_answers_count_as_no_answer() {
    let wrong_case = json!({ "permissionDecision": "Deny" });
    for reply in [
        Reply::Refuse,
        Reply::Json(json!({ "decision": 7, "hookSpecificOutput": { "hookEventName": "Nope" } })),
        Reply::Json(json!({ "decision": "maybe" })),
        Reply::Json(json!({ "hookSpecificOutput": { "hookEventName": "Nope" } })),
        Reply::Json(json!("text")),
        Reply::Json(Value::Null),
        specific("PreToolUse", wrong_case),
        specific("PreToolUse", json!({ "updatedInput": "ls" })),
    ] {
        let report = Rig::callback("PreToolUse", reply.clone()).run(pre_tool_use("Bash")).await;
        assert_eq!(report.tool_refusal(), None, "{reply:?}");
        assert_eq!(report.failures.len(), 1, "{reply:?}");
        assert_eq!(
            Rig::notices(&report),
            [(
                Some("hook_callback_failed"),
                "warning",
                "PreToolUse: Hook callback h1 failed: the SDK host replied with an error or an \
                 invalid reply. Its reply was treated as empty."
            )],
            "{reply:?}"
        );
    }
}

#[tokio::test]
async fn a_failure_blocks_where_that_is_asked_for() {
    for (on_failure, blocks) in [("continue", false), ("block", true), ("whatever", true)] {
        let rig = Rig::new();
        let matcher = json!([{ "hookCallbackIds": ["h1"], "onFailure": on_failure }]);
        rig.register(json!({ "PreToolUse": matcher, "Notification": matcher }));
        let report = rig.run(pre_tool_use("Bash")).await;
        assert_eq!(report.tool_refusal().is_some(), blocks, "{on_failure}");
        let ignored = report.notices[0].content.ends_with("Its reply was treated as empty.");
        assert_eq!(ignored, !blocks, "{on_failure}");
        let event = json!({
            "hook_event_name": "Notification", "message": "m", "notification_type": "t",
        });
        assert!(rig.run(event).await.blocks.is_empty(), "there is nothing to block");
    }
}

#[tokio::test]
async fn an_answer_for_another_event_keeps_a_tool_from_running() {
    let reply = specific("PostToolUse", json!({ "additionalContext": "c" }));
    let report = Rig::callback("PreToolUse", reply.clone()).run(pre_tool_use("Bash")).await;
    assert_eq!(report.blocks[0].kind, BlockKind::WrongEvent);
    assert!(report.tool_refusal().unwrap().contains("unexpected error"));
    assert!(report.contexts.is_empty());

    let report = Rig::callback("Stop", reply).run(stop()).await;
    assert!(report.blocks.is_empty());
    assert_eq!(report.failures[0].kind, FailureKind::WrongEvent);
}

#[tokio::test(start_paused = true)]
async fn required_callback_that_times_out_blocks_the_tool() {
    for (timeout, seconds) in [(Some(3), 3), (None, 600)] {
        let rig = Rig::new();
        let mut matcher = json!({ "hookCallbackIds": ["h1"] });
        if let Some(timeout) = timeout {
            matcher["timeout"] = timeout.into();
        }
        rig.register(json!({ "PreToolUse": [matcher], "Stop": [matcher] }));
        rig.reply("h1", Reply::Never);
        let begun = tokio::time::Instant::now();
        let report = rig.run(pre_tool_use("Bash")).await;
        assert_eq!(begun.elapsed().as_secs(), seconds);
        assert_eq!(*rig.host.withdrawn.lock().unwrap(), ["h1"]);
        assert_eq!(
            report.tool_refusal().unwrap(),
            "PreToolUse hook did not respond before its timeout (host client may be unreachable). \
             The tool call was not executed; other configured hooks may not have completed."
        );
        assert!(report.notices.is_empty());

        let report = rig.run(stop()).await;
        assert!(report.blocks.is_empty(), "the end of a turn is not held up");
        assert_eq!(report.failures[0].kind, FailureKind::TimedOut);
    }
}

#[tokio::test]
async fn a_host_that_has_gone_keeps_a_tool_from_running() {
    let report = Rig::callback("PreToolUse", Reply::Close).run(pre_tool_use("Bash")).await;
    assert_eq!(report.blocks[0].kind, BlockKind::HostGone);
    assert!(
        report.tool_refusal().unwrap().starts_with("The user doesn't want to take this action")
    );
}

#[tokio::test]
async fn cancelling_withdraws_the_question() {
    let rig = Rig::callback("PreToolUse", Reply::Never);
    let (report, ()) = tokio::join!(biased; rig.run(pre_tool_use("Bash")), async {
        assert_eq!(rig.host.calls.lock().unwrap().len(), 1);
        rig.cancel.cancel();
    });
    assert!(report.cancelled);
    assert_eq!(*rig.host.withdrawn.lock().unwrap(), ["h1"]);

    rig.run(pre_tool_use("Bash")).await;
    assert_eq!(rig.host.calls.lock().unwrap().len(), 1, "after the end nothing begins");
}

#[tokio::test]
async fn an_async_answer_lets_the_action_proceed() {
    let reply = Reply::Json(json!({ "async": true, "asyncTimeout": 5000 }));
    let report = Rig::callback("PreToolUse", reply).run(pre_tool_use("Bash")).await;
    assert_eq!((report.ran, report.has_errors(), report.verdict), (1, false, None));
}

#[tokio::test(start_paused = true)]
async fn hooks_run_side_by_side() {
    let rig = Rig::new();
    rig.register(json!({ "Stop": [
        { "hookCallbackIds": ["a", "b"], "timeout": 5 },
        { "hookCallbackIds": ["c"], "timeout": 7 },
    ] }));
    for id in ["a", "b", "c"] {
        rig.reply(id, Reply::Never);
    }
    let begun = tokio::time::Instant::now();
    assert_eq!(rig.run(stop()).await.failures.len(), 3);
    assert_eq!(begun.elapsed().as_secs(), 7);
}
