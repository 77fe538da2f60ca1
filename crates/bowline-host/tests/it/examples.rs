//! The examples of this crate, run as a reader would run them, offline.

use std::process::Stdio;

use tokio::process::Command;

use crate::rig::{example, soon, variable, write_script};

/// What an example says.
async fn said(name: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(example(name));
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let run = soon(name, command.output()).await.unwrap_or_else(|error| {
        panic!("{name}: {error}; a plain `cargo test -p bowline-host` builds the examples")
    });
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{name} {said}{}", String::from_utf8_lossy(&run.stderr));
    said
}

#[tokio::test]
async fn calculator() {
    let said = said("calculator", &[]).await;
    assert!(said.contains("division by zero") && said.contains("15 + 27 is 42"), "{said}");
}

#[tokio::test]
async fn permissions() {
    let said = said("permissions", &[]).await;
    assert!(said.contains("asked about Bash") && said.contains("2 calls were refused"), "{said}");
}

#[tokio::test]
async fn multi_turn() {
    let said = said("multi_turn", &[]).await;
    assert!(said.contains("My favourite knot is the bowline."), "{said}");
    assert!(said.contains("[the mode is now plan]") && said.contains("Because it holds"), "{said}");
}

#[tokio::test]
async fn hooks() {
    let said = said("hooks", &[]).await;
    assert!(said.contains("[PreToolUse]") && said.contains("hunter2"), "the log has it: {said}");
    let done: Vec<_> = said.lines().filter(|line| line.starts_with("[PostToolUse]")).collect();
    assert_eq!(done.len(), 1, "what was forbidden did not run: {said}");
    assert!(done[0].contains("*******") && !done[0].contains("hunter2"), "{said}");
    assert!(said.contains("agent: Now I am really done."), "{said}");
}

#[tokio::test]
async fn file_processing() {
    let said = said("file_processing", &[]).await;
    for expected in [
        "idle -> starting",
        "running -> waiting_tool_call list",
        "mcp__files__list took ",
        "running -> completed",
        "North sold 30 knots and south sold 12.",
        "3 calls",
    ] {
        assert!(said.contains(expected), "{expected} is not in {said}");
    }
    assert_eq!(said.matches("mcp__files__summarize took ").count(), 2, "{said}");
}

#[tokio::test]
async fn many_sessions() {
    let few = said("many_sessions", &["--sessions", "20", "--at-once", "3"]).await;
    assert!(few.starts_with("20 sessions, 20 greetings, 0 failures"), "{few}");
    // The thousand is a step of its own in `.ci/run`: without optimization it takes ten seconds.
    let many = said("many_sessions", &["--sessions", "200"]).await;
    assert!(many.starts_with("200 sessions, 200 greetings, 0 failures"), "{many}");
}

#[tokio::test]
async fn each_with_an_agent_of_its_own() {
    let Some(bowline) = variable("BOWLINE_BIN") else {
        eprintln!("skipped: BOWLINE_BIN is not set");
        return;
    };
    // What the script model is not told to do, it repeats.
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent");
    let config = folder.path().display();
    let words = format!("CLAUDE_CONFIG_DIR='{config}' exec '{bowline}' --model script \"$@\"");
    write_script(&agent, &words);
    let agent = agent.to_str().unwrap();
    for (name, expected) in [
        ("calculator", "agent: What is 15 + 27"),
        ("permissions", "agent: Make a file named harmless"),
        ("multi_turn", "agent: Why?"),
        ("hooks", "agent: "),
        ("file_processing", "running -> completed"),
    ] {
        let said = said(name, &["--cli", agent]).await;
        assert!(said.contains(expected), "{name}: {said}");
    }
    let few = said("many_sessions", &["--sessions", "3", "--cli", agent]).await;
    assert!(few.starts_with("3 sessions, 0 greetings, 0 failures"), "{few}");
}
