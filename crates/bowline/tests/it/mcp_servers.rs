//! MCP servers of the command line: what is put into their configurations, and logins to them.

use std::fs;

use serde_json::json;

use crate::place::{Place, Ran};

#[test]
fn variables_are_put_into_configurations() {
    let place = Place::new();
    let script = "printf '%s %s %s' \"$GIVEN\" \"$OTHERWISE\" \"$NOBODY\" > told; exec cat";
    let config = json!({"mcpServers": {"shell": {
        "command": "${SHELL_HERE:-sh}", "args": ["-c", script],
        "env": {"GIVEN": "<${FOO}>", "OTHERWISE": "${BAR:-else}", "NOBODY": "${NOT_SET}"},
    }}});
    fs::write(place.cwd().join("servers.json"), config.to_string()).unwrap();
    let words = ["-p", "--model", "script", "--mcp-config", "servers.json", "--", "SAY hi"];
    let mut command = place.bowline(words);
    command.env("FOO", "of the user").env("MCP_TIMEOUT", "200");
    let ran = Ran::from(command.output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hi\n"));
    assert_eq!(ran.stderr, "MCP server shell: not set and without a default: NOT_SET\n");
    let told = fs::read_to_string(place.cwd().join("told")).unwrap();
    assert_eq!(told, "<of the user> else ${NOT_SET}");
}

#[test]
fn who_logs_in_to_a_server_that_is_not_there_hears_which_ones_are() {
    let place = Place::new();
    let login = |name: &str, config: &str| {
        let ran = place.bowline(["mcp", "login", name, "--mcp-config", config]).output().unwrap();
        let ran = Ran::from(ran);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
        ran.stderr
    };
    let config = r#"{"mcpServers": {"cat": {"command": "cat"}, "net": {"type": "http", "url": "http://127.0.0.1:9"}}}"#;
    assert_eq!(login("dog", config), "Error: there is no MCP server dog; there are: cat, net\n");
    let none = r#"{"mcpServers": {}}"#;
    assert_eq!(login("dog", none), "Error: there is no MCP server dog, nor any other\n");
    let wrong = "Error: Server type \"stdio\" does not support OAuth authentication\n";
    let quick = r#"{"mcpServers": {"cat": {"command": "true"}}}"#;
    assert_eq!(login("cat", quick), wrong);
    let words = ["mcp", "logout", "net", "--mcp-config", config];
    let out = Ran::from(place.bowline(words).output().unwrap());
    assert_eq!(out.printed(), "Logged out of net.\n", "which nobody was logged in to");
}
