//! MCP servers of the command line: what is put into their configurations, and logins to them.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::test_home::{Ran, TestHome};

#[test]
fn variables_are_put_into_configurations() {
    let rig = TestHome::new();
    let script = "printf '%s %s %s' \"$GIVEN\" \"$OTHERWISE\" \"$NOBODY\" > notice; exec cat";
    let config = json!({"mcpServers": {"shell": {
        "command": "${SHELL_HERE:-sh}", "args": ["-c", script],
        "env": {"GIVEN": "<${FOO}>", "OTHERWISE": "${BAR:-else}", "NOBODY": "${NOT_SET}"},
    }}});
    fs::write(rig.cwd().join("servers.json"), config.to_string()).unwrap();
    let words = ["-p", "--model", "script", "--mcp-config", "servers.json", "--", "SAY hi"];
    let mut command = rig.bowline(words);
    command.env("FOO", "of the user").env("MCP_TIMEOUT", "200");
    let ran = Ran::from(command.output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hi\n"));
    assert_eq!(ran.stderr, "MCP server shell: not set and without a default: NOT_SET\n");
    let notice = fs::read_to_string(rig.cwd().join("notice")).unwrap();
    assert_eq!(notice, "<of the user> else ${NOT_SET}");
}

/// A server that is not asked to exit must not stay for ever.
#[test]
fn a_server_dies_with_a_program_that_is_killed() {
    let rig = TestHome::new();
    let pipe = rig.cwd().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // It is initialized, so the guardian knows it; and it ignores the end of its input.
    let script = "read -r greeting; exec 9> pipe; echo ready >&9; exec sleep 60";
    let config = json!({"mcpServers": {"stubborn": {"command": "sh", "args": ["-c", script]}}});
    let mut host = rig.open(&["--mcp-config", &config.to_string()]);
    host.prompt("SAY hi");
    let mut alive = BufReader::new(File::open(&pipe).unwrap());
    let mut ready = String::new();
    alive.read_line(&mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    host.kill();
    let killed = Instant::now();
    // The pipe closes when its last writer exits.
    alive.read_to_end(&mut Vec::new()).unwrap();
    assert!(killed.elapsed() < Duration::from_secs(30), "it was not killed");
}

#[test]
fn login_to_unknown_server_lists_known_servers() {
    let rig = TestHome::new();
    let login = |name: &str, config: &str| {
        let ran = rig.bowline(["mcp", "login", name, "--mcp-config", config]).output().unwrap();
        let ran = Ran::from(ran);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
        ran.stderr
    };
    let config = r#"{"mcpServers": {"cat": {"command": "cat"}, "net": {"type": "http", "url": "http://127.0.0.1:9"}}}"#;
    assert_eq!(login("dog", config), "Error: no MCP server dog; configured are: cat, net\n");
    let none = r#"{"mcpServers": {}}"#;
    assert_eq!(login("dog", none), "Error: no MCP server dog: none is configured\n");
    let wrong = "Error: Server type \"stdio\" does not support OAuth authentication\n";
    let quick = r#"{"mcpServers": {"cat": {"command": "true"}}}"#;
    assert_eq!(login("cat", quick), wrong);
    let words = ["mcp", "logout", "net", "--mcp-config", config];
    let out = Ran::from(rig.bowline(words).output().unwrap());
    assert_eq!(out.printed(), "Logged out of net.\n", "even without a login");
}
