//! `bowline schema`.

use std::process::{Command, Stdio};

use serde_json::Value;

fn bowline() -> Command {
    Command::new(env!("CARGO_BIN_EXE_bowline"))
}

#[test]
fn each_side_has_its_schema() {
    for (side, title) in [("agent", "AgentLine"), ("host", "HostLine")] {
        let output = bowline().args(["schema", side]).output().unwrap();
        assert!(output.status.success());
        let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(schema["title"], title);
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = bowline()
        .args(["schema", "agent"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
