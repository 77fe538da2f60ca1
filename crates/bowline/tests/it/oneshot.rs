//! One-shot runs.

use std::{io::Write, process::Stdio};

use serde_json::Value;

use crate::test_home::{Ran, TestHome};

#[test]
fn result_after_background_task_is_printed() {
    let rig = TestHome::new();
    let command = "{\"command\":\"echo hi\",\"run_in_background\":true}";
    let prompt = format!("TOOL Bash {command}\nNEXT\nSAY first");
    let printed = rig.ask(&["--allowedTools", "Bash"], &prompt).printed();
    let (first, second) = printed.split_once("\n\n").unwrap_or_else(|| panic!("{printed}"));
    assert_eq!(first, "first");
    assert!(!second.trim().is_empty(), "{printed}");
}

#[test]
fn a_call_that_a_hook_put_off_needs_no_prompt_to_be_made() {
    let rig = TestHome::new();
    let defer =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#;
    let hook = format!("test -e go || echo '{defer}'");
    let settings = serde_json::json!({"hooks": {"PreToolUse": [
        {"matcher": "Bash", "hooks": [{"type": "command", "command": hook}]},
    ]}});
    let settings = settings.to_string();
    let flags = ["--allowedTools", "Bash", "--settings", &settings, "--output-format", "json"];
    let prompt = "TOOL Bash {\"command\":\"touch made\"}\nNEXT\nSAY done";
    let first: Value = serde_json::from_str(&rig.ask(&flags, prompt).printed()).unwrap();
    assert_eq!(first["terminal_reason"], "tool_deferred", "{first}");
    assert!(!rig.cwd().join("made").exists());

    std::fs::write(rig.cwd().join("go"), "").unwrap();
    let resume = ["-p", "--model", "script", "--resume", first["session_id"].as_str().unwrap()];
    let again = rig.bowline([&resume[..], &flags].concat()).stdin(Stdio::null()).output();
    let second: Value = serde_json::from_str(&Ran::from(again.unwrap()).printed()).unwrap();
    assert_eq!(second["result"], "done", "{second}");
    assert!(rig.cwd().join("made").exists());
}

/// What holds it to that besides is in its environment, where `git` shows it.
#[test]
fn a_command_that_only_reads_is_held_to_that_unless_a_rule_allows_it() {
    let rig = TestHome::new();
    let prompt = "TOOL Bash {\"command\":\"git -C . config --get core.hooksPath || echo free\"}\nNEXT\nECHORESULT";
    assert_eq!(rig.ask(&[], prompt).printed(), "result was: /dev/null\n");
    let allowed = rig.ask(&["--allowedTools", "Bash(git:*)"], prompt).printed();
    assert_eq!(allowed, "result was: free\n");
}

#[test]
fn text_format_prints_the_response() {
    assert_eq!(TestHome::new().ask(&[], "SAY hello there").printed(), "hello there\n");
}

#[test]
fn json_is_the_result() {
    let printed = TestHome::new().ask(&["--output-format", "json"], "SAY hi").printed();
    let result: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&result["type"], &result["result"]), (&"result".into(), &"hi".into()));
    assert_eq!(result["is_error"], false);
}

#[test]
fn verbose_json_is_every_message() {
    let printed =
        TestHome::new().ask(&["--output-format", "json", "--verbose"], "SAY hi").printed();
    let messages: Vec<Value> = serde_json::from_str(&printed).unwrap();
    let kinds: Vec<_> = messages.iter().map(|message| message["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "assistant", "result"]);
}

#[test]
fn stream_json_is_every_message_as_it_comes() {
    let ran = TestHome::new().ask(&["--output-format=stream-json", "--verbose"], "SAY hi");
    let kinds: Vec<_> = ran.lines().iter().map(|line| line["type"].clone()).collect();
    assert_eq!(kinds, ["system", "assistant", "result"]);
    assert_eq!(ran.lines()[0]["claude_code_version"], "2.1.325");
    ran.printed();
}

#[test]
fn stdin_is_the_prompt_or_is_appended_to_it() {
    let rig = TestHome::new();
    let with_stdin = |args: &[&str], text: &str| {
        let mut child = rig.bowline(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        Ran::from(child.wait_with_output().unwrap()).printed()
    };
    assert_eq!(with_stdin(&["-p", "--model", "script"], "SAY from stdin"), "from stdin\n");
    let both = with_stdin(&["-p", "typed", "--model", "script"], "piped");
    assert_eq!(both, "typed\npiped\n");
}

#[test]
fn a_failed_turn_is_a_failed_run() {
    let rig = TestHome::new();
    let ran = rig.ask(&["--max-turns", "1"], "TOOL Bash {\"command\":\"ls\"}\nNEXT\nSAY x");
    assert_eq!(ran.stdout, "Error: Reached max turns (1)\n");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""));
}

#[test]
fn without_access_to_a_model_there_are_three_ways_out() {
    let rig = TestHome::new();
    let ran = Ran::from(rig.bowline(["-p", "hi"]).output().unwrap());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for way in ["ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "--model script"] {
        assert!(ran.stdout.contains(way), "{way}: {ran:?}");
    }
}

#[test]
fn invalid_runs_report_the_cause() {
    let rig = TestHome::new();
    let cases: &[(&[&str], &str)] = &[
        (&["-p", "x", "--no-such-flag"], "error: unknown option '--no-such-flag'\n"),
        (
            &["-p"],
            "Error: Input must be provided either through stdin or as a prompt argument when \
             using --print\n",
        ),
        (
            &["-p", "x", "--output-format", "stream-json"],
            "Error: When using --print, --output-format=stream-json requires --verbose\n",
        ),
        (&["--session-id", "x"], "Error: Invalid session ID. Must be a valid UUID.\n"),
        (
            &["-p", "x", "--json-schema", "{\"type\": 7}"],
            "Error: the JSON schema for results is not valid: ",
        ),
    ];
    for (line, expected) in cases {
        let ran = Ran::from(rig.bowline(*line).output().unwrap());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{line:?}");
        assert!(ran.stderr.starts_with(expected), "{line:?}: {}", ran.stderr);
    }
}

#[test]
fn unsaved_session_leaves_no_files() {
    let rig = TestHome::new();
    rig.ask(&["--no-session-persistence"], "SAY hi").printed();
    assert_eq!(rig.transcripts().len(), 0);
    rig.ask(&[], "SAY hi").printed();
    assert_eq!(rig.transcripts().len(), 1);
    assert_eq!(crate::test_home::names(&rig.cwd()).len(), 0, "nothing is left in the project");
}

#[test]
fn a_session_that_cannot_be_saved_goes_on_and_says_so_once() {
    let rig = TestHome::new();
    let prompt = "SAY one\nTOOL Bash {\"command\": \"echo hi\"}\nNEXT\nSAY two";
    for format in ["text", "json"] {
        let words = ["-p", "--model", "script", "--output-format", format, "--", prompt];
        let ran = rig.bowline(words).env("BOWLINE_CONFIG_DIR", "/dev/null").output().unwrap();
        let ran = Ran::from(ran);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains("two"), "{ran:?}");
        let warned = "Warning: the transcript cannot be written (ENOTDIR)";
        assert!(ran.stderr.starts_with(warned) && ran.stderr.lines().count() == 1, "{ran:?}");
    }
}

#[test]
fn a_recording_can_be_played() {
    let rig = TestHome::new();
    rig.ask(&["--record", "session.rec"], "SAY once more").printed();
    let replay = ["-p", "--model", "replay:session.rec", "--", "SAY once more"];
    let ran = Ran::from(rig.bowline(replay).output().unwrap());
    assert_eq!(ran.printed(), "once more\n");
}
