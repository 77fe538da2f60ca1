//! Proxies between the program and the services it asks: those that the environment names.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};

use crate::place::{Place, Ran};

/// A proxy that lets nobody through, and remembers what was asked of it.
struct Gateway(TcpListener);

impl Gateway {
    fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// How to reach it, for somebody whom it knows.
    fn address(&self) -> String {
        format!("http://me:secret@{}", self.0.local_addr().unwrap())
    }

    /// The head of the next request, which is refused.
    fn refuse(&self) -> String {
        let (mut stream, _) = self.0.accept().unwrap();
        let head = head(&stream);
        stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").unwrap();
        head
    }
}

/// The head of a request, in small letters.
fn head(stream: &TcpStream) -> String {
    let mut head = String::new();
    let mut lines = BufReader::new(stream);
    while lines.read_line(&mut head).unwrap() > 2 {}
    head.to_ascii_lowercase()
}

/// The script model as a service.
struct Service {
    child: Child,
    url: String,
}

impl Service {
    fn start(place: &Place) -> Self {
        let mut child = place.bowline(["script-server"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("ANTHROPIC_BASE_URL=").unwrap().to_owned();
        Self { child, url }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A prompt for a model behind an address.
fn asking(place: &Place, base_url: &str) -> Command {
    let mut command = place.bowline(["-p", "--model", "claude-sonnet-5-5", "SAY through"]);
    command
        .env("ANTHROPIC_API_KEY", "key")
        .env("ANTHROPIC_BASE_URL", base_url)
        .env("CLAUDE_CODE_MAX_RETRIES", "0");
    command
}

#[test]
fn a_model_behind_a_proxy() {
    let (place, gateway) = (Place::new(), Gateway::new());
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let mut command = asking(&place, "https://model.invalid");
        let child = command.env(name, gateway.address()).spawn().unwrap();
        let head = gateway.refuse();
        assert!(head.starts_with("connect model.invalid:443 http/1.1\r\n"), "{name}: {head}");
        assert!(head.contains("\r\nproxy-authorization: basic "), "{name}: {head}");
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(!ran.stdout.contains("secret") && !ran.stderr.contains("secret"), "{ran:?}");
    }
}

#[test]
fn what_is_not_encrypted_is_handed_to_the_proxy() {
    let place = Place::new();
    let service = Service::start(&place);
    // A service that answers whatever address is asked for is proxy enough.
    let mut command = asking(&place, "http://model.invalid");
    let ran = Ran::from(command.env("http_proxy", &service.url).output().unwrap());
    assert_eq!(ran.printed(), "through\n");
}

#[test]
fn who_needs_no_proxy_is_asked_directly() {
    let place = Place::new();
    let service = Service::start(&place);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = asking(&place, &service.url);
    command.env("HTTP_PROXY", format!("http://{closed}")).env("NO_PROXY", "127.0.0.1");
    assert_eq!(Ran::from(command.output().unwrap()).printed(), "through\n");
}

#[test]
fn an_mcp_server_behind_a_proxy() {
    let (place, gateway) = (Place::new(), Gateway::new());
    let servers = r#"{"mcpServers": {"far": {"type": "http", "url": "https://mcp.invalid/mcp"}}}"#;
    let words = ["-p", "--model", "script", "--mcp-config", servers, "--", "SAY done"];
    let mut command = place.bowline(words);
    // The turn waits for the server, however long it takes to ask for it.
    command.env("HTTPS_PROXY", gateway.address()).env("BOWLINE_MCP_GRACE_MS", "60000");
    let mut child = command.spawn().unwrap();
    let head = gateway.refuse();
    assert!(head.starts_with("connect mcp.invalid:443 http/1.1\r\n"), "{head}");
    // Whoever tries again is turned away at once.
    drop(gateway);
    let mut said = String::new();
    child.stdout.as_mut().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "done\n");
    child.wait().unwrap();
}
