//! `bowline mcp serve` as people start it.

use std::{
    fs::{self, Permissions},
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, ChildStderr, Stdio},
};

use serde_json::{Value, json};

use crate::test_home::{Host, Ran, TestHome};

/// Variables by which hosts and clients know a door.
const SECRETS: [&str; 4] = [
    "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
    "CLAUDE_SESSION_INGRESS_TOKEN_FILE",
    "BOWLINE_SDK_HEADERS",
    "BOWLINE_MCP_TOKEN",
];

fn refused(args: &[&str]) -> String {
    let ran =
        Ran::from(TestHome::new().bowline([&["mcp", "serve"], args].concat()).output().unwrap());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    ran.stderr
}

#[test]
fn an_address_that_others_can_reach_needs_a_token_and_a_name() {
    let output = refused(&["--http", "0.0.0.0:0", "--no-token"]);
    assert!(output.contains("clients need a token, so --no-token is for"), "{output}");
    let rig = TestHome::new();
    std::fs::write(rig.cwd().join("token"), "secret\n").unwrap();
    let args = ["mcp", "serve", "--http", "0.0.0.0:0", "--token-file", "token"];
    let ran = Ran::from(rig.bowline(args).output().unwrap());
    assert!(ran.stderr.contains("(--allow-host NAME)"), "{ran:?}");
}

#[test]
fn command_line_errors_are_reported() {
    assert!(refused(&["--http", "here"]).contains("here"));
    assert!(refused(&["--token-file", "x"]).contains("--http"));
    assert!(refused(&["--http", "127.0.0.1:0", "--token-file", "none"]).contains("none"));
    assert!(refused(&["--no-token"]).contains("--http"));
    let both = ["--http", "127.0.0.1:0", "--no-token", "--token-file", "x"];
    assert!(refused(&both).contains("cannot be used with"));
    assert!(refused(&["--permission-mode", "lax"]).contains("lax"));
    let output = refused(&["--model", "script", "--tools", "Nope"]);
    assert!(
        output.starts_with("Error: --tools names no tool") && output.contains("Read"),
        "{output}"
    );
    let output = refused(&["--http", "127.0.0.1:0", "--allow-origin", "app.example.org"]);
    assert!(output.contains("'app.example.org' is invalid. must be where web pages"), "{output}");
    let output = refused(&["--http", "127.0.0.1:0", "--allow-host", "http://app.example.org"]);
    assert!(
        output.starts_with("Error: --allow-host `http://app.example.org` is not a name"),
        "{output}"
    );
}

/// A server over HTTP, and its stderr until it is ready.
struct Web {
    server: Child,
    stderr: BufReader<ChildStderr>,
    address: String,
}

impl Web {
    fn start(rig: &TestHome, args: &[&str]) -> Self {
        let words = ["mcp", "serve", "--http", "127.0.0.1:0", "--model", "script"];
        let mut command = rig.bowline([&words, args].concat());
        let mut server = command.stdout(Stdio::null()).spawn().unwrap();
        let stderr = BufReader::new(server.stderr.take().unwrap());
        let mut web = Self { server, stderr, address: String::new() };
        while web.address.is_empty() {
            let line = web.line();
            assert!(!line.is_empty(), "it does not listen");
            if let Some(address) = line.strip_prefix("Listening at http://") {
                web.address = address.trim_end().trim_end_matches("/mcp").to_owned();
            }
        }
        web
    }

    /// The next line on stderr.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line
    }

    /// The token in the configuration that is printed for clients.
    fn token(&mut self) -> String {
        let notice = self.line();
        assert!(notice.contains("Clients need the token in"), "{notice}");
        let client: Value = serde_json::from_str(&self.line()).unwrap();
        let server = &client["mcpServers"]["bowline"];
        assert_eq!(server["url"], format!("http://{}/mcp", self.address));
        let header = server["headers"]["Authorization"].as_str().unwrap();
        header.strip_prefix("Bearer ").unwrap().to_owned()
    }

    /// The status of a request to end a session that there is not.
    fn knock(&self, token: Option<&str>) -> u16 {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let token = token.map(|it| format!("Authorization: Bearer {it}\r\n")).unwrap_or_default();
        let head = format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n{token}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

#[test]
fn without_a_token_one_is_made_and_kept() {
    let rig = TestHome::new();
    let mut web = Web::start(&rig, &[]);
    let token = web.token();
    // 32 bytes.
    assert_eq!(token.len(), 43);
    assert!(token.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it)), "{token}");
    assert_eq!((web.knock(None), web.knock(Some("wrong"))), (401, 401));
    assert_eq!(web.knock(Some(&token)), 400, "there is no session to end");
    let file = rig.home().join(".bowline/mcp-token");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), token);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(Web::start(&rig, &[]).token(), token, "it is used again");
    assert_ne!(Web::start(&TestHome::new(), &[]).token(), token);
}

#[test]
fn a_token_that_others_may_know_is_not_used() {
    let rig = TestHome::new();
    let folder = rig.home().join(".bowline");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("mcp-token");
    let refused = |why: &str| {
        let args = ["mcp", "serve", "--http", "127.0.0.1:0", "--model", "script"];
        let ran = Ran::from(rig.bowline(args).output().unwrap());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(why) && ran.stderr.contains("remove it"), "{ran:?}");
        fs::remove_file(&file).unwrap();
    };
    fs::write(&file, "x".repeat(43)).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    refused("not a file that only you can read");
    let elsewhere = rig.cwd().join("token");
    fs::write(&elsewhere, "x".repeat(43)).unwrap();
    fs::set_permissions(&elsewhere, Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    refused("not a file that only you can read");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    refused("holds no token");
}

#[test]
fn a_server_without_a_token_says_what_that_means() {
    let rig = TestHome::new();
    let mut web = Web::start(&rig, &["--no-token"]);
    let notice = web.line();
    assert!(notice.starts_with("Warning: no token is required. Every user"), "{notice}");
    assert_eq!(web.knock(None), 400, "there is no session to end");
    assert!(!rig.home().join(".bowline/mcp-token").exists());
    // A token from a file is not printed.
    let file = rig.cwd().join("token");
    fs::write(&file, "from a file\n").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let web = Web::start(&rig, &["--token-file", "token"]);
    assert_eq!((web.knock(None), web.knock(Some("from a file"))), (401, 400));
}

/// Opens a connection as clients do.
fn greet(client: &mut Host) {
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    assert_eq!(client.receive().unwrap()["result"]["protocolVersion"], "2025-06-18");
}

/// Calls a tool; its result.
fn call(client: &mut Host, name: &str, arguments: Value) -> Value {
    let call = json!({"name": name, "arguments": arguments});
    client.send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}));
    client.receive().unwrap()["result"].take()
}

#[test]
fn commands_do_not_see_the_secrets_of_doors() {
    let rig = TestHome::new();
    let args = ["mcp", "serve", "--model", "script", "--allowedTools", "Bash"];
    let mut command = rig.bowline(args);
    command.envs(SECRETS.map(|name| (name, "s3cr3t"))).env("OTHER", "shown");
    let mut client = Host::of(command, &rig);
    greet(&mut client);
    let output = call(&mut client, "Bash", json!({"command": "env"})).to_string();
    assert!(output.contains("OTHER=shown") && !output.contains("s3cr3t"), "{output}");
    // The agent's commands neither.
    let prompt = "TOOL Bash {\"command\": \"env > seen\"}\nNEXT\nSAY done";
    assert_eq!(call(&mut client, "agent", json!({ "prompt": prompt }))["isError"], false);
    let seen = std::fs::read_to_string(rig.cwd().join("seen")).unwrap();
    assert!(seen.contains("OTHER=shown") && !seen.contains("s3cr3t"), "{seen}");
    client.close_input();
    client.end();
}

#[test]
fn server_ends_when_its_client_disconnects() {
    let mut client = TestHome::new().speak(["mcp", "serve", "--model", "script"]);
    greet(&mut client);
    client.close_input();
    let ran = client.end();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_session_of_the_agent_is_kept_and_goes_on() {
    let rig = TestHome::new();
    let mut sessions: Vec<Value> = Vec::new();
    for again in [false, true] {
        let mut client = rig.speak(["mcp", "serve", "--model", "script"]);
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
    assert_eq!(rig.transcripts().len(), 1);
}
