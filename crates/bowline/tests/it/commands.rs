//! The other commands.

use std::{
    fs,
    io::{BufRead, BufReader},
};

use serde_json::json;

use crate::place::{Place, Ran};

fn run(place: &Place, args: &[&str]) -> Ran {
    Ran::from(place.bowline(args).output().unwrap())
}

#[test]
fn the_version_is_one_that_sdks_accept() {
    let place = Place::new();
    for flag in ["-v", "--version"] {
        assert_eq!(run(&place, &[flag]).printed(), "2.1.325 (Claude Code)\n");
    }
}

#[test]
fn help_completions_and_manual_page() {
    let place = Place::new();
    assert!(run(&place, &["--help"]).printed().contains("--permission-mode"));
    assert!(run(&place, &["completions", "bash"]).printed().contains("--permission-mode"));
    assert!(run(&place, &["man"]).printed().contains("permission"));
}

#[test]
fn the_demo_runs_offline_to_its_end() {
    let printed = run(&Place::new(), &["demo"]).printed();
    for part in ["→ Read", "→ Edit", "Hello, Bowline!", "no, it removes files", "Done:"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn the_doctor_names_the_place_of_a_mistake() {
    let place = Place::new();
    let healthy = place.bowline(["doctor"]).env("ANTHROPIC_API_KEY", "k").output().unwrap();
    let healthy = Ran::from(healthy).printed();
    assert!(healthy.contains("Everything is fine"), "{healthy}");
    assert!(!healthy.contains("ANTHROPIC_API_KEY: k"), "{healthy}");
    assert!(healthy.contains("\nSandbox\n  commands that only read: "), "{healthy}");

    fs::create_dir_all(place.cwd().join(".claude")).unwrap();
    fs::write(place.cwd().join(".claude/settings.json"), "{\n  \"model\": oops\n}").unwrap();
    fs::write(
        place.cwd().join(".mcp.json"),
        r#"{"mcpServers":{"ghost":{"command":"no-such-program"}}}"#,
    )
    .unwrap();
    let ran = place.bowline(["doctor"]).env("BOWLINE_TRUST", "1").output().unwrap();
    let ran = Ran::from(ran);
    assert_eq!(ran.code, Some(1));
    for part in ["settings.json:2:", "ghost: failed", "set ANTHROPIC_API_KEY", "3 problems"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

#[test]
fn the_doctor_runs_nothing_that_a_session_would_not_run() {
    let place = Place::new();
    let made = place.cwd().join("made");
    let server = json!({"command": "touch", "args": [&made]});
    place.configure(json!({"enableAllProjectMcpServers": false}));
    let settings = json!({"enabledMcpjsonServers": ["other"]});
    fs::create_dir_all(place.cwd().join(".claude")).unwrap();
    fs::write(place.cwd().join(".claude/settings.json"), settings.to_string()).unwrap();
    let servers = json!({"mcpServers": {"sly": server}});
    fs::write(place.cwd().join(".mcp.json"), servers.to_string()).unwrap();
    let mut doctor = place.bowline(["doctor"]);
    let ran = doctor.env("ANTHROPIC_API_KEY", "k").env("BOWLINE_TRUST", "1").output().unwrap();
    let printed = Ran::from(ran).printed();
    assert!(printed.contains("sly: not used: settings object to it"), "{printed}");
    assert!(!made.exists(), "{printed}");
}

#[test]
fn the_doctor_names_hooks_that_cannot_run() {
    let place = Place::new();
    let hook = json!({"hooks": [{"type": "command", "command": "true"}]});
    let mut broken = hook.clone();
    broken["matcher"] = "(".into();
    place.configure(json!({"hooks": {"PreToolUse": [broken], "NoSuchEvent": [hook]}}));
    let ran = place.bowline(["doctor"]).env("ANTHROPIC_API_KEY", "k").output().unwrap();
    let ran = Ran::from(ran);
    assert_eq!(ran.code, Some(1));
    for part in ["PreToolUse: matcher `(` matches nothing", "unknown hook event `NoSuchEvent`"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

#[test]
fn the_script_server_serves_until_it_is_told_to_stop() {
    let place = Place::new();
    let mut server = place.bowline(["script-server"]).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let address = lines.next().unwrap().unwrap();
    let url = address.strip_prefix("ANTHROPIC_BASE_URL=").unwrap().to_owned();
    let asked = place.bowline(["-p", "SAY over http"]).env("ANTHROPIC_BASE_URL", url).output();
    assert_eq!(Ran::from(asked.unwrap()).printed(), "over http\n");
    let kill = std::process::Command::new("kill").arg(server.id().to_string()).status();
    assert!(kill.unwrap().success());
    assert_eq!(server.wait().unwrap().code(), Some(143));
}
