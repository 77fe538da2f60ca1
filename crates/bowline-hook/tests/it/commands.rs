//! Input of hook programs, and effects of their output.

use std::fs;

use bowline_hook::{FailureKind, HookActivity, HookText};
use bowline_protocol::HookOutcome;
use serde_json::{Value, json};

use super::{Rig, post_tool_use, pre_tool_use, prompt, session_start, stop};

#[tokio::test]
async fn a_program_reads_its_input_as_one_line() {
    let rig = Rig::command("PreToolUse", "cat > in.json; wc -l < in.json > lines");
    rig.run(pre_tool_use("Bash")).await;
    let text = fs::read_to_string(rig.path("in.json")).unwrap();
    let input: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(input["tool_input"], json!({ "command": "ls" }));
    assert!(text.ends_with("}\n"));
    assert_eq!(fs::read_to_string(rig.path("lines")).unwrap().trim(), "1");
}

#[tokio::test]
async fn a_program_that_does_not_read_a_long_input_is_no_trouble() {
    let rig = Rig::command("UserPromptSubmit", "echo fine");
    let report = rig.run(prompt(&"x".repeat(1 << 20))).await;
    assert_eq!(report.contexts, [HookText::Printed("fine".to_owned())]);
}

#[tokio::test]
async fn a_program_finds_its_environment() {
    let names = "CLAUDE_PROJECT_DIR CLAUDECODE CLAUDE_CODE_SESSION_ID CLAUDE_CODE_CHILD_SESSION \
                 CLAUDE_PID CLAUDE_EFFORT CLAUDE_ENV_FILE CLAUDE_CODE_ENTRYPOINT FROM_SETTINGS PWD";
    let command = format!("for name in {names}; do echo \"$name=${{!name}}\"; done > env.txt");
    let hook = json!([{ "hooks": [{ "type": "command", "command": command }] }]);
    let rig = Rig::settings(json!({ "PreToolUse": hook, "SessionStart": hook }));
    let folder = rig.folder.path().display().to_string();
    let pid = std::process::id();
    let expected = |effort: &str, env_file: &str| {
        format!(
            "CLAUDE_PROJECT_DIR={folder}\nCLAUDECODE=1\nCLAUDE_CODE_SESSION_ID=s1\n\
             CLAUDE_CODE_CHILD_SESSION=1\nCLAUDE_PID={pid}\nCLAUDE_EFFORT={effort}\n\
             CLAUDE_ENV_FILE={env_file}\nCLAUDE_CODE_ENTRYPOINT=sdk-test\nFROM_SETTINGS=yes\n\
             PWD={folder}\n"
        )
    };
    rig.run(pre_tool_use("Bash")).await;
    assert_eq!(fs::read_to_string(rig.path("env.txt")).unwrap(), expected("medium", ""));
    rig.run(session_start("startup")).await;
    let env_file = format!("{folder}/sessionstart.sh");
    assert_eq!(fs::read_to_string(rig.path("env.txt")).unwrap(), expected("", &env_file));
}

#[tokio::test]
async fn arguments_mean_no_shell() {
    let hook = json!({ "type": "command", "command": "printf", "args": ["%s|", "$HOME", "a b"] });
    let rig = Rig::settings(json!({ "UserPromptSubmit": [{ "hooks": [hook] }] }));
    assert_eq!(rig.run(prompt("hi")).await.contexts, [HookText::Printed("$HOME|a b|".to_owned())]);
}

#[tokio::test]
async fn json_on_stdout_is_an_answer() {
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "not here",
    } });
    let rig = Rig::command("PreToolUse", &format!("echo; echo '{answer}'"));
    let report = rig.run(pre_tool_use("Bash")).await;
    assert_eq!(report.tool_refusal().unwrap(), "PreToolUse:Bash hook error: not here");
}

#[tokio::test]
async fn plain_text_is_context_for_prompts_and_session_starts_only() {
    let hook = json!([{ "hooks": [{ "type": "command", "command": "echo hello; echo" }] }]);
    let rig = Rig::settings(json!({
        "UserPromptSubmit": hook, "SessionStart": hook, "PreToolUse": hook, "Stop": hook,
    }));
    let texts = async |event| Vec::from_iter(rig.run(event).await.model_texts());
    assert_eq!(texts(prompt("hi")).await, ["UserPromptSubmit hook success: hello"]);
    assert_eq!(texts(session_start("startup")).await, ["SessionStart:startup hook success: hello"]);
    assert_eq!(texts(pre_tool_use("Bash")).await, [""; 0]);
    assert_eq!(texts(stop()).await, [""; 0]);
}

#[tokio::test]
async fn broken_json_is_ignored() {
    let rig = Rig::command("PreToolUse", "echo '{\"decision\": block'");
    let report = rig.run(pre_tool_use("Bash")).await;
    assert_eq!(report.tool_refusal(), None);
    assert_eq!(report.failures[0].kind, FailureKind::BadOutput);
}

#[tokio::test]
async fn exit_code_two_objects_with_stderr() {
    let command = "echo ignored; echo 'too risky' >&2; exit 2";
    let hook = json!([{ "hooks": [{ "type": "command", "command": command }] }]);
    let rig = Rig::settings(json!({
        "PreToolUse": hook, "PostToolUse": hook, "UserPromptSubmit": hook, "Stop": hook,
        "SessionStart": hook,
    }));
    let reason = format!("[{command}]: too risky");
    let report = rig.run(pre_tool_use("Bash")).await;
    assert_eq!(report.tool_refusal().unwrap(), format!("PreToolUse:Bash hook error: {reason}"));
    let report = rig.run(post_tool_use("Bash")).await;
    assert_eq!(
        Vec::from_iter(report.objections()),
        [format!("PostToolUse:Bash hook blocking error from command: \"{command}\": {reason}")]
    );
    assert_eq!(rig.run(prompt("hi")).await.blocks[0].reason, reason);
    assert_eq!(rig.run(stop()).await.blocks[0].reason, reason);

    let report = rig.run(session_start("startup")).await;
    assert!(report.blocks.is_empty(), "a session cannot be kept from starting");
    assert_eq!(report.failures[0].kind, FailureKind::ExitCode(2));
}

#[tokio::test]
async fn exit_code_two_without_a_word_still_objects() {
    let report = Rig::command("PreToolUse", "exit 2").run(pre_tool_use("Bash")).await;
    assert_eq!(
        report.tool_refusal().unwrap(),
        "PreToolUse:Bash hook error: [exit 2]: No stderr output"
    );
}

#[tokio::test]
async fn unknown_exit_codes_do_not_block() {
    for (command, code) in [("exit 1", 1), ("echo oops >&2; exit 3", 3), ("kill -9 $$", 137)] {
        let report = Rig::command("PreToolUse", command).run(pre_tool_use("Bash")).await;
        assert_eq!(report.tool_refusal(), None, "{command}");
        assert_eq!(report.failures[0].kind, FailureKind::ExitCode(code), "{command}");
    }
}

#[tokio::test]
async fn unknown_exit_codes_block_if_configured() {
    let hook = json!({
        "type": "command", "command": "echo down >&2; exit 1", "onFailure": "block",
    });
    let rig = Rig::settings(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
    assert_eq!(
        rig.run(pre_tool_use("Bash")).await.tool_refusal().unwrap(),
        "PreToolUse:Bash hook error: [echo down >&2; exit 1]: down"
    );
}

#[tokio::test]
async fn a_program_that_is_not_there_does_not_hold_anything_up() {
    let hook = json!({ "type": "command", "command": "/no/such/program", "args": [] });
    let rig = Rig::settings(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
    let report = rig.run(pre_tool_use("Bash")).await;
    assert_eq!(report.tool_refusal(), None);
    assert_eq!(report.failures[0].kind, FailureKind::NotRun);
    assert!(report.notices[0].content.contains("/no/such/program"));
}

#[tokio::test]
async fn unsupported_kinds_of_hooks_are_reported() {
    let rig = Rig::settings(json!({ "PreToolUse": [{ "hooks": [
        { "type": "http", "url": "http://127.0.0.1:1/" },
        { "type": "prompt", "prompt": "ok? $ARGUMENTS" },
        { "type": "agent", "prompt": "check" },
        { "type": "mcp_tool", "server": "s", "tool": "t" },
        { "type": "telepathy" },
    ] }] }));
    let report = rig.run(pre_tool_use("Bash")).await;
    assert_eq!((report.failures.len(), report.notices.len()), (5, 5));
    assert_eq!(report.tool_refusal(), None);
}

#[tokio::test]
async fn program_start_progress_and_end_are_observed() {
    let rig = Rig::command("PreToolUse", "echo pre; echo err >&2");
    rig.run(pre_tool_use("Bash")).await;
    let activity = rig.activity();
    let [HookActivity::Started(started), HookActivity::Response(response)] = &activity[..] else {
        panic!("expected a start and an end: {activity:?}");
    };
    assert_eq!(
        (started.hook_name.as_str(), started.hook_event.as_str(), started.session_id.as_str()),
        ("PreToolUse:Bash", "PreToolUse", "s1")
    );
    assert_eq!(started.hook_id, response.hook_id);
    assert_eq!((response.stdout.as_str(), response.stderr.as_str()), ("pre\n", "err\n"));
    assert_eq!(response.output.len(), "pre\nerr\n".len());
    assert_eq!((response.exit_code, &response.outcome), (Some(0), &HookOutcome::Success));
}

#[tokio::test]
async fn failed_end_is_observed() {
    let rig = Rig::command("Stop", "exit 1");
    let report = rig.run(stop()).await;
    assert!(report.has_errors());
    let activity = rig.activity();
    let Some(HookActivity::Response(response)) = activity.last() else { panic!("{activity:?}") };
    assert_eq!(response.hook_name, "Stop");
    assert_eq!((response.exit_code, &response.outcome), (Some(1), &HookOutcome::Error));
}

#[tokio::test]
async fn endless_output_is_read_but_not_kept() {
    let rig = Rig::command("PreToolUse", "head -c 5000000 /dev/zero | tr '\\0' x");
    rig.run(pre_tool_use("Bash")).await;
    let Some(HookActivity::Response(response)) = rig.activity().pop() else { panic!("no end") };
    assert_eq!((response.stdout.len(), response.exit_code), (1 << 20, Some(0)));
}

#[tokio::test]
async fn the_same_command_runs_once_and_once_means_once() {
    let say = |word: &str, once: bool| json!({ "type": "command", "command": format!("echo {word} >> log"), "once": once });
    let rig = Rig::settings(json!({ "PreToolUse": [
        { "matcher": "Bash", "hooks": [say("same", false), say("rare", true)] },
        { "matcher": "*", "hooks": [say("same", false), say("other", false)] },
    ] }));
    assert_eq!(rig.run(pre_tool_use("Bash")).await.ran, 3);
    assert_eq!(rig.run(pre_tool_use("Bash")).await.ran, 2);
    let log = fs::read_to_string(rig.path("log")).unwrap();
    let mut words = Vec::from_iter(log.lines());
    words.sort_unstable();
    assert_eq!(words, ["other", "other", "rare", "same", "same"]);
}

#[tokio::test]
async fn a_condition_narrows_a_hook_to_a_tool() {
    let hook = json!({ "type": "command", "command": "true", "if": "Write" });
    let rig = Rig::settings(json!({
        "PreToolUse": [{ "hooks": [hook] }], "Stop": [{ "hooks": [hook] }],
    }));
    assert_eq!(rig.run(pre_tool_use("Bash")).await.ran, 0);
    assert_eq!(rig.run(pre_tool_use("Write")).await.ran, 1);
    assert_eq!(rig.run(stop()).await.ran, 0, "nothing there to fit a rule");
}

#[tokio::test]
async fn a_condition_that_cannot_be_read_keeps_no_guard_from_running() {
    let hook = json!({ "type": "command", "command": "exit 2", "if": "Bash(rm" });
    let rig = Rig::settings(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
    assert_eq!(rig.run(pre_tool_use("Bash")).await.ran, 1);
    let [problem] = &rig.hooks.problems()[..] else { panic!("{:?}", rig.hooks.problems()) };
    assert!(problem.contains("PreToolUse: invalid condition, treated as true: "), "{problem}");
}
