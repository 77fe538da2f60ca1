//! `bowline mcp serve` as people start it.

use serde_json::{Value, json};

use crate::place::{Host, Place, Ran};

/// Variables by which hosts and clients know a door.
const SECRETS: [&str; 4] = [
    "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
    "CLAUDE_SESSION_INGRESS_TOKEN_FILE",
    "BOWLINE_SDK_HEADERS",
    "BOWLINE_MCP_TOKEN",
];

fn refused(args: &[&str]) -> String {
    let ran = Ran::from(Place::new().bowline([&["mcp", "serve"], args].concat()).output().unwrap());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    ran.stderr
}

#[test]
fn an_address_that_others_can_reach_needs_a_token_and_a_name() {
    let said = refused(&["--http", "0.0.0.0:0"]);
    assert!(said.contains("a token is needed (--token-file FILE or BOWLINE_MCP_TOKEN)"), "{said}");
    let place = Place::new();
    std::fs::write(place.cwd().join("token"), "secret\n").unwrap();
    let args = ["mcp", "serve", "--http", "0.0.0.0:0", "--token-file", "token"];
    let ran = Ran::from(place.bowline(args).output().unwrap());
    assert!(ran.stderr.contains("(--allow-host NAME)"), "{ran:?}");
}

#[test]
fn mistakes_on_the_command_line_are_said() {
    assert!(refused(&["--http", "here"]).contains("here"));
    assert!(refused(&["--token-file", "x"]).contains("--http"));
    assert!(refused(&["--http", "127.0.0.1:0", "--token-file", "none"]).contains("none"));
    assert!(refused(&["--permission-mode", "lax"]).contains("lax"));
    let said = refused(&["--model", "script", "--tools", "Nope"]);
    assert!(said.starts_with("Error: --tools names no tool") && said.contains("Read"), "{said}");
    let said = refused(&["--http", "127.0.0.1:0", "--allow-origin", "app.example.org"]);
    assert!(said.contains("'app.example.org' is invalid. must be where web pages"), "{said}");
    let said = refused(&["--http", "127.0.0.1:0", "--allow-host", "http://app.example.org"]);
    assert!(
        said.starts_with("Error: --allow-host `http://app.example.org` is not a name"),
        "{said}"
    );
}

/// Opens a connection as clients do.
fn greet(client: &mut Host) {
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    client.say(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    assert_eq!(client.hear().unwrap()["result"]["protocolVersion"], "2025-06-18");
}

/// Calls a tool; its result.
fn call(client: &mut Host, name: &str, arguments: Value) -> Value {
    let call = json!({"name": name, "arguments": arguments});
    client.say(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}));
    client.hear().unwrap()["result"].take()
}

#[test]
fn commands_do_not_see_the_secrets_of_doors() {
    let place = Place::new();
    let args = ["mcp", "serve", "--model", "script", "--allowedTools", "Bash"];
    let mut command = place.bowline(args);
    command.envs(SECRETS.map(|name| (name, "s3cr3t"))).env("OTHER", "shown");
    let mut client = Host::of(command, &place);
    greet(&mut client);
    let said = call(&mut client, "Bash", json!({"command": "env"})).to_string();
    assert!(said.contains("OTHER=shown") && !said.contains("s3cr3t"), "{said}");
    // The agent's commands neither.
    let prompt = "TOOL Bash {\"command\": \"env > seen\"}\nNEXT\nSAY done";
    assert_eq!(call(&mut client, "agent", json!({ "prompt": prompt }))["isError"], false);
    let seen = std::fs::read_to_string(place.cwd().join("seen")).unwrap();
    assert!(seen.contains("OTHER=shown") && !seen.contains("s3cr3t"), "{seen}");
    client.close_input();
    client.end();
}

#[test]
fn it_ends_when_its_client_hangs_up() {
    let mut client = Place::new().speak(["mcp", "serve", "--model", "script"]);
    greet(&mut client);
    client.close_input();
    let ran = client.end();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_session_of_the_agent_is_kept_and_goes_on() {
    let place = Place::new();
    let mut sessions: Vec<Value> = Vec::new();
    for again in [false, true] {
        let mut client = place.speak(["mcp", "serve", "--model", "script"]);
        greet(&mut client);
        let mut arguments = json!({"prompt": "SAY hello"});
        if again {
            arguments["session_id"] = sessions[0].clone();
        }
        let result = call(&mut client, "agent", arguments);
        sessions.push(result["structuredContent"]["session_id"].clone());
        client.close_input();
        client.end();
    }
    assert!(sessions[0].is_string());
    assert_eq!(sessions[0], sessions[1]);
    // The tools' own session leaves no trace.
    assert_eq!(place.transcripts().len(), 1);
}
