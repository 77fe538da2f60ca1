//! Proxies that the environment names, between the program and its services.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};

use crate::test_home::{Ran, TestHome};

/// A proxy that refuses every request, and records it.
struct Gateway(TcpListener);

impl Gateway {
    fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// Its URL, with credentials.
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
    fn start(rig: &TestHome) -> Self {
        let mut child = rig.bowline(["script-server"]).spawn().unwrap();
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

/// A prompt for a model at an address.
fn asking(rig: &TestHome, base_url: &str) -> Command {
    let mut command = rig.bowline(["-p", "--model", "claude-sonnet-5-5", "SAY through"]);
    command
        .env("ANTHROPIC_API_KEY", "key")
        .env("ANTHROPIC_BASE_URL", base_url)
        .env("CLAUDE_CODE_MAX_RETRIES", "0");
    command
}

#[test]
fn model_requests_use_the_proxy() {
    let (rig, gateway) = (TestHome::new(), Gateway::new());
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let mut command = asking(&rig, "https://model.invalid");
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
fn plain_http_requests_are_sent_to_the_proxy() {
    let rig = TestHome::new();
    let service = Service::start(&rig);
    // A service that responds to every address will do as a proxy.
    let mut command = asking(&rig, "http://model.invalid");
    let ran = Ran::from(command.env("http_proxy", &service.url).output().unwrap());
    assert_eq!(ran.printed(), "through\n");
}

#[test]
fn no_proxy_hosts_are_connected_directly() {
    let rig = TestHome::new();
    let service = Service::start(&rig);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = asking(&rig, &service.url);
    command.env("HTTP_PROXY", format!("http://{closed}")).env("NO_PROXY", "127.0.0.1");
    assert_eq!(Ran::from(command.output().unwrap()).printed(), "through\n");
}

#[test]
fn mcp_connections_use_the_proxy() {
    let (rig, gateway) = (TestHome::new(), Gateway::new());
    let servers = r#"{"mcpServers": {"far": {"type": "http", "url": "https://mcp.invalid/mcp"}}}"#;
    let words = ["-p", "--model", "script", "--mcp-config", servers, "--", "SAY done"];
    let mut command = rig.bowline(words);
    // The turn waits for the server, however long the connection takes.
    command.env("HTTPS_PROXY", gateway.address()).env("BOWLINE_MCP_GRACE_MS", "60000");
    let mut child = command.spawn().unwrap();
    let head = gateway.refuse();
    assert!(head.starts_with("connect mcp.invalid:443 http/1.1\r\n"), "{head}");
    // Retries are refused at once.
    drop(gateway);
    let mut output = String::new();
    child.stdout.as_mut().unwrap().read_to_string(&mut output).unwrap();
    assert_eq!(output, "done\n");
    child.wait().unwrap();
}
