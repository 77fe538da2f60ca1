//! The other commands.

use std::{
    fs,
    io::{BufRead, BufReader},
};

use serde_json::json;

use crate::test_home::{Ran, TestHome};

fn run(rig: &TestHome, args: &[&str]) -> Ran {
    Ran::from(rig.bowline(args).output().unwrap())
}

#[test]
fn the_version_is_one_that_sdks_accept() {
    let rig = TestHome::new();
    for flag in ["-v", "--version"] {
        assert_eq!(run(&rig, &[flag]).printed(), "2.1.325 (Claude Code)\n");
    }
}

#[test]
fn help_completions_and_manual_page() {
    let rig = TestHome::new();
    assert!(run(&rig, &["--help"]).printed().contains("--permission-mode"));
    assert!(run(&rig, &["completions", "bash"]).printed().contains("--permission-mode"));
    assert!(run(&rig, &["man"]).printed().contains("permission"));
}

#[test]
fn the_demo_runs_offline_to_its_end() {
    let printed = run(&TestHome::new(), &["demo"]).printed();
    for part in ["→ Read", "→ Edit", "Hello, Bowline!", "no, it removes files", "Done:"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn doctor_names_file_and_line_of_a_mistake() {
    let rig = TestHome::new();
    let healthy = rig.bowline(["doctor"]).env("ANTHROPIC_API_KEY", "k").output().unwrap();
    let healthy = Ran::from(healthy).printed();
    assert!(healthy.contains("No problems found"), "{healthy}");
    assert!(!healthy.contains("ANTHROPIC_API_KEY: k"), "{healthy}");
    assert!(healthy.contains("\nSandbox\n  commands that only read: "), "{healthy}");

    fs::create_dir_all(rig.cwd().join(".claude")).unwrap();
    fs::write(rig.cwd().join(".claude/settings.json"), "{\n  \"model\": oops\n}").unwrap();
    fs::write(
        rig.cwd().join(".mcp.json"),
        r#"{"mcpServers":{"ghost":{"command":"no-such-program"}}}"#,
    )
    .unwrap();
    let ran = rig.bowline(["doctor"]).env("BOWLINE_TRUST", "1").output().unwrap();
    let ran = Ran::from(ran);
    assert_eq!(ran.code, Some(1));
    for part in ["settings.json:2:", "ghost: failed", "set ANTHROPIC_API_KEY", "3 problems"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

#[test]
fn the_doctor_runs_nothing_that_a_session_would_not_run() {
    let rig = TestHome::new();
    let made = rig.cwd().join("made");
    let server = json!({"command": "touch", "args": [&made]});
    rig.configure(json!({"enableAllProjectMcpServers": false}));
    let settings = json!({"enabledMcpjsonServers": ["other"]});
    fs::create_dir_all(rig.cwd().join(".claude")).unwrap();
    fs::write(rig.cwd().join(".claude/settings.json"), settings.to_string()).unwrap();
    let servers = json!({"mcpServers": {"sly": server}});
    fs::write(rig.cwd().join(".mcp.json"), servers.to_string()).unwrap();
    let mut doctor = rig.bowline(["doctor"]);
    let ran = doctor.env("ANTHROPIC_API_KEY", "k").env("BOWLINE_TRUST", "1").output().unwrap();
    let printed = Ran::from(ran).printed();
    assert!(printed.contains("sly: not used: disabled by settings"), "{printed}");
    assert!(!made.exists(), "{printed}");
}

#[test]
fn the_doctor_names_hooks_that_cannot_run() {
    let rig = TestHome::new();
    let hook = json!({"hooks": [{"type": "command", "command": "true"}]});
    let mut broken = hook.clone();
    broken["matcher"] = "(".into();
    rig.configure(json!({"hooks": {"PreToolUse": [broken], "NoSuchEvent": [hook]}}));
    let ran = rig.bowline(["doctor"]).env("ANTHROPIC_API_KEY", "k").output().unwrap();
    let ran = Ran::from(ran);
    assert_eq!(ran.code, Some(1));
    for part in ["PreToolUse: matcher `(` matches nothing", "unknown hook event `NoSuchEvent`"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

#[test]
fn script_server_runs_until_a_signal() {
    let rig = TestHome::new();
    let mut server = rig.bowline(["script-server"]).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let address = lines.next().unwrap().unwrap();
    let url = address.strip_prefix("ANTHROPIC_BASE_URL=").unwrap().to_owned();
    let asked = rig.bowline(["-p", "SAY over http"]).env("ANTHROPIC_BASE_URL", url).output();
    assert_eq!(Ran::from(asked.unwrap()).printed(), "over http\n");
    let kill = std::process::Command::new("kill").arg(server.id().to_string()).status();
    assert!(kill.unwrap().success());
    assert_eq!(server.wait().unwrap().code(), Some(143));
}
