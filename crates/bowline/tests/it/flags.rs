//! Flags and variables that change how a session is run.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::test_home::{Ran, TestHome};

const STREAM: [&str; 4] = ["-p", "--output-format", "stream-json", "--verbose"];

/// One prompt with more arguments and variables; every message is printed.
fn ask(rig: &TestHome, args: &[&str], variables: &[(&str, &str)], prompt: &str) -> Ran {
    let words = [&STREAM, args, &["--", prompt]].concat();
    let variables = variables.iter().copied();
    Ran::from(rig.bowline(words).envs(variables).stdin(Stdio::null()).output().unwrap())
}

fn init(ran: &Ran) -> Value {
    let lines = ran.lines();
    lines.into_iter().find(|line| line["subtype"] == "init").unwrap_or_else(|| panic!("{ran:?}"))
}

#[test]
fn a_helper_gives_the_key() {
    let rig = TestHome::new();
    // Nothing listens there; the key is read before that matters.
    let variables =
        [("ANTHROPIC_BASE_URL", "http://127.0.0.1:1"), ("CLAUDE_CODE_MAX_RETRIES", "0")];
    let settings = json!({"apiKeyHelper": "echo key-of-today"}).to_string();
    let args = ["--settings", &settings, "--model", "claude-sonnet-4-5"];
    assert_eq!(init(&ask(&rig, &args, &variables, "hi"))["apiKeySource"], "apiKeyHelper");

    let settings = json!({"apiKeyHelper": "exit 3"}).to_string();
    let args = ["--settings", &settings, "--model", "claude-sonnet-4-5"];
    let ran = ask(&rig, &args, &variables, "hi");
    assert_eq!((ran.code, ran.stderr.contains("apiKeyHelper failed")), (Some(1), true), "{ran:?}");
}

#[test]
fn startup_failure_is_reported_in_a_result() {
    let rig = TestHome::new();
    let args = ["--model", "script", "--settings", "{oops"];
    let variables = [("CLAUDE_CODE_STARTUP_FAILURE_RESULTS", "1")];
    let ran = ask(&rig, &args, &variables, "hi");
    let result = &ran.lines()[0];
    assert_eq!((ran.code, &result["is_error"]), (Some(1), &json!(true)), "{ran:?}");
    assert_eq!(result["startup_failure_reason"], "config_file_invalid", "{ran:?}");
    assert_eq!(ask(&rig, &args, &[], "hi").stdout, "");
}

#[test]
fn no_flag_is_passed_over_in_silence() {
    let rig = TestHome::new();
    let ran = rig.ask(&["--workload", "x", "--enable-auth-status"], "SAY hi");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hi\n"));
    for flag in ["--workload", "--enable-auth-status"] {
        assert!(ran.stderr.contains(&format!("{flag} has no effect: ")), "{}", ran.stderr);
    }
    let ran = rig.ask(&["--worktree"], "SAY hi");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("unknown option '--worktree'\n(the session is not moved"),
        "{}",
        ran.stderr
    );
}

#[test]
fn flags_that_require_a_host() {
    let rig = TestHome::new();
    let cases = [
        (
            "--await-claim",
            "Error: --await-claim requires --print with --input-format=stream-json and \
             --output-format=stream-json.\n",
        ),
        (
            "--managed-settings-in-initialize",
            "Error: --managed-settings-in-initialize requires --await-initialize and \
             --input-format=stream-json with stdin piped, and cannot be used with --sdk-url or a \
             subcommand.\n",
        ),
    ];
    for (flag, why) in cases {
        let ran = rig.ask(&[flag], "SAY hi");
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(1), "", why));
    }
}

#[test]
fn unknown_agent_of_a_one_shot_run_is_an_error() {
    let rig = TestHome::new();
    let agents = json!({"pilot": {"description": "d", "prompt": "p"}}).to_string();
    let ran = rig.ask(&["--agents", &agents, "--agent", "nobody"], "SAY hi");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    let why = "--agent 'nobody' not found. Available agents: ";
    assert!(ran.stderr.starts_with(why) && ran.stderr.contains("pilot"), "{}", ran.stderr);
    assert_eq!(rig.ask(&["--agents", &agents, "--agent", "pilot"], "SAY hi").printed(), "hi\n");
}

#[test]
fn without_commands_a_slash_is_a_letter() {
    let rig = TestHome::new();
    assert_eq!(rig.ask(&["--disable-slash-commands"], "/mine").printed(), "/mine\n");
    let ran = ask(&rig, &["--model", "script", "--disable-slash-commands"], &[], "SAY hi");
    assert_eq!(init(&ran)["slash_commands"], json!([]));
}

#[test]
fn a_session_can_be_given_a_title() {
    let rig = TestHome::new();
    rig.ask(&["--name", "Knots and hitches"], "SAY hi").printed();
    let transcript = std::fs::read_to_string(&rig.transcripts()[0]).unwrap();
    assert!(transcript.contains("Knots and hitches"), "{transcript}");
}

#[test]
fn background_work_keeps_a_session_alive_only_so_long() {
    let rig = TestHome::new();
    let command = json!({"command": "exec sleep 300", "run_in_background": true});
    let prompt = format!("TOOL Bash {command}\nNEXT\nSAY started");
    let args = ["--model", "script", "--allowedTools", "Bash"];
    let variables = [("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", "100")];
    // Without the limit this would take five minutes.
    let ran = ask(&rig, &args, &variables, &prompt);
    assert_eq!(ran.lines().iter().filter(|line| line["type"] == "result").count(), 1);
    assert_eq!(ran.code, Some(0));
}

/// Hooks that append their input to a file, one line each.
fn noting(events: &[&str]) -> String {
    let group = json!([{"hooks": [{"type": "command", "command": "cat >> received"}]}]);
    let hooks = events.iter().map(|event| ((*event).to_owned(), group.clone()));
    json!({"hooks": hooks.collect::<serde_json::Map<_, _>>()}).to_string()
}

/// The events of hooks that ran, with their triggers.
fn received(rig: &TestHome) -> Vec<String> {
    let text = std::fs::read_to_string(rig.cwd().join("received")).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let shown = lines.map(|line| {
        let why = ["trigger", "source", "reason"].iter().find_map(|key| line[key].as_str());
        format!("{}:{}", line["hook_event_name"].as_str().unwrap(), why.unwrap())
    });
    shown.collect()
}

#[test]
fn hooks_prepare_the_folder() {
    let settings = noting(&["Setup", "SessionStart", "SessionEnd"]);
    for (flag, setup) in [("--init", "Setup:init"), ("--maintenance", "Setup:maintenance")] {
        let rig = TestHome::new();
        let ran = rig.ask(&[flag, "--settings", &settings], "SAY hi");
        assert_eq!(ran.printed(), "hi\n");
        assert_eq!(received(&rig), [setup, "SessionStart:startup", "SessionEnd:other"]);
    }
    let rig = TestHome::new();
    let ran = rig.ask(&["--init-only", "--settings", &settings], "SAY hi");
    assert_eq!(ran.printed(), "");
    assert_eq!(received(&rig), ["Setup:init", "SessionStart:startup", "SessionEnd:other"]);
    // It needs no prompt and no host.
    let streams = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    let words = [&["--init-only", "--settings", &settings], &streams[..]].concat();
    assert_eq!(Ran::from(rig.bowline(words).output().unwrap()).printed(), "");
    assert_eq!(received(&rig).len(), 6);
}

#[test]
fn the_main_agent_is_asked_its_own_prompt_first() {
    let kinds = json!({"diver": {
        "description": "dives", "prompt": "You dive.", "model": "script",
        "initialPrompt": "SAY splash",
    }});
    let kinds = kinds.to_string();
    let args = ["--agent", "diver", "--agents", &kinds, "--output-format", "json", "--verbose"];
    let printed = TestHome::new().ask(&args, "SAY mine").printed();
    let messages: Vec<Value> = serde_json::from_str(&printed).unwrap();
    assert_eq!(messages.last().unwrap()["num_turns"], 1);
    assert!(printed.contains("splash"), "{printed}");
    assert!(messages.last().unwrap()["result"].as_str().unwrap().ends_with("mine"), "{printed}");
}

/// A project with something of everything that a session finds by itself.
fn furnished(rig: &TestHome) {
    for (file, text) in [
        ("CLAUDE.md", "Be brief."),
        (".claude/commands/hi.md", "SAY from a command"),
        (".claude/agents/pilot.md", "---\nname: pilot\ndescription: steers\n---\nSteer."),
        (".mcp.json", r#"{"mcpServers": {"crane": {"command": "/nonexistent/crane"}}}"#),
    ] {
        let path = rig.cwd().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let touch =
        |file: &str| json!([{"hooks": [{"type": "command", "command": format!("touch {file}")}]}]);
    rig.configure(json!({
        "hooks": {"SessionStart": touch("hooked")},
        "outputStyle": "default",
    }));
}

#[test]
fn a_bare_session_finds_nothing_and_takes_what_is_named() {
    let rig = TestHome::new();
    furnished(&rig);
    let usual = ask(&rig, &["--model", "script", "--trust"], &[], "/hi");
    assert_eq!(init(&usual)["mcp_servers"][0]["name"], "crane");
    assert!(rig.cwd().join("hooked").exists());
    assert_eq!(usual.lines().last().unwrap()["result"], "from a command");
    std::fs::remove_file(rig.cwd().join("hooked")).unwrap();

    let agents = r#"{"mate": {"description": "d", "prompt": "p"}}"#;
    let args = ["--model", "script", "--bare", "--agents", agents, "--tools", "Bash,Write"];
    let bare = ask(&rig, &args, &[], "/hi");
    let found = init(&bare);
    assert_eq!((&found["tools"], &found["mcp_servers"]), (&json!(["Bash"]), &json!([])));
    let agents = found["agents"].to_string();
    assert!(agents.contains("mate") && !agents.contains("pilot"), "{agents}");
    assert_eq!(bare.lines().last().unwrap()["result"], "/hi");
    assert!(!rig.cwd().join("hooked").exists());
}

#[test]
fn safe_mode_ignores_named_sources() {
    let rig = TestHome::new();
    furnished(&rig);
    let agents = r#"{"mate": {"description": "d", "prompt": "p"}}"#;
    let servers = r#"{"mcpServers": {"winch": {"command": "/nonexistent/winch"}}}"#;
    let args = ["--model", "script", "--safe-mode", "--agents", agents, "--mcp-config", servers];
    let ran = ask(&rig, &args, &[], "/hi");
    let found = init(&ran);
    assert_eq!(found["mcp_servers"], json!([]));
    assert!(found["tools"].to_string().contains("Write"), "{found}");
    let agents = found["agents"].to_string();
    assert!(!agents.contains("mate") && !agents.contains("pilot"), "{agents}");
    assert!(!rig.cwd().join("hooked").exists());
}

#[test]
fn a_restricted_session_runs_no_commands_and_stays_in_its_folders() {
    let rig = TestHome::new();
    furnished(&rig);
    let elsewhere = rig.home().join("secret");
    std::fs::write(&elsewhere, "s").unwrap();
    let prompt = format!(
        "TOOL Bash {}\nNEXT\nTOOL Read {}\nNEXT\nSAY done",
        json!({"command": "ls"}),
        json!({"file_path": elsewhere}),
    );
    let ran = ask(&rig, &["--model", "script", "--restricted"], &[], &prompt);
    let tools = init(&ran)["tools"].to_string();
    assert!(tools.contains("Grep") && !tools.contains("Bash"), "{tools}");
    assert!(!rig.cwd().join("hooked").exists(), "no settings file applies");
    let results: Vec<_> = ran
        .lines()
        .into_iter()
        .filter(|line| line["type"] == "user")
        .map(|line| line.to_string())
        .collect();
    assert!(results[0].contains("No such tool available"), "{results:?}");
    assert!(results[1].contains("outside the working directories"), "{results:?}");
    let args = ["--model", "script", "--restricted", "--dangerously-skip-permissions"];
    let ran = ask(&rig, &args, &[("IS_SANDBOX", "1")], "SAY hi");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("not supported in restricted mode"), "{}", ran.stderr);
}

#[test]
fn a_wish_for_a_sandbox_is_not_passed_over_in_silence() {
    let rig = TestHome::new();
    let ran = rig.ask(&["--settings", r#"{"sandbox":{"enabled":true}}"#], "SAY hi");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hi\n"));
    assert!(ran.stderr.contains("there is no sandbox here"), "{}", ran.stderr);
    let required = r#"{"sandbox":{"enabled":true,"failIfUnavailable":true}}"#;
    let ran = ask(&rig, &["--model", "script", "--settings", required], &[], "SAY hi");
    let result = &ran.lines()[0];
    assert_eq!((ran.code, &result["is_error"]), (Some(1), &json!(true)), "{ran:?}");
    assert_eq!(result["startup_failure_reason"], "sandbox_required_unavailable");
    rig.configure(json!({"sandbox": {"enabled": true}}));
    let doctor = Ran::from(rig.bowline(["doctor"]).output().unwrap());
    assert!(doctor.stdout.contains("PROBLEM: sandbox.enabled"), "{}", doctor.stdout);
    rig.configure(json!({"sandbox": {"enabled": false}}));
    rig.ask(&[], "SAY quiet").printed();
}

#[test]
fn a_permission_tool_that_is_not_there_ends_the_run() {
    let rig = TestHome::new();
    let prompt = "TOOL Bash {\"command\":\"touch made\"}\nNEXT\nSAY x";
    let ran = rig.ask(&["--permission-prompt-tool", "mcp__a__b"], prompt);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("MCP tool mcp__a__b"), "{}", ran.stderr);
    assert!(ran.stderr.contains("Available MCP tools: none"), "{}", ran.stderr);
    assert!(!rig.cwd().join("made").exists());
    assert_eq!(rig.ask(&["--permission-prompt-tool", "mcp__a__b"], "SAY x").printed(), "x\n");
}

#[test]
fn invalid_servers_are_named_in_init() {
    let rig = TestHome::new();
    let servers = json!({"mcpServers": {"a": {}, "b": {"type": "zzz"}, "c": {"command": ""}}});
    let ran = ask(&rig, &["--model", "script", "--mcp-config", &servers.to_string()], &[], "hi");
    let errors = init(&ran)["mcp_server_errors"].clone();
    let kinds: Vec<_> = errors.as_array().unwrap().iter().map(|error| &error["type"]).collect();
    assert_eq!(kinds, ["invalid_config", "unknown_type", "invalid_config"], "{errors}");
    assert_eq!(errors[2]["name"], "c");
}

#[test]
fn verbose_json_omits_momentary_messages() {
    let rig = TestHome::new();
    let command = json!({"command": "echo hi", "run_in_background": true});
    let args = ["--output-format", "json", "--verbose", "--allowedTools", "Bash"];
    let printed = rig.ask(&args, &format!("TOOL Bash {command}\nNEXT\nSAY first")).printed();
    let messages: Vec<Value> = serde_json::from_str(&printed).unwrap();
    let kinds: Vec<_> = messages.iter().filter_map(|message| message["subtype"].as_str()).collect();
    assert_eq!(kinds, ["init", "success", "init", "success"]);
}

#[test]
fn settings_can_deny_instead_of_asking() {
    let rig = TestHome::new();
    let settings = json!({"permissions": {"denyInsteadOfPrompting": true}}).to_string();
    let mut host = rig.open(&["--permission-prompt-tool", "stdio", "--settings", &settings]);
    host.prompt("TOOL Bash {\"command\":\"touch made\"}\nNEXT\nSAY x");
    let denied = host.await_kind("permission_denied");
    assert!(denied["message"].as_str().unwrap().contains("turned off"), "{denied}");
    assert_eq!(host.await_kind("result")["result"], "x");
    assert!(!rig.cwd().join("made").exists());
}
