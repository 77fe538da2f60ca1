//! A host elsewhere: `--sdk-url` as its users meet it.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{
    Message, WebSocket, accept_hdr,
    handshake::server::{ErrorResponse, Request, Response},
    http::HeaderMap,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

use crate::test_home::{Ran, TestHome};

/// Longer than anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host that is dialed.
pub(crate) struct Server {
    listener: TcpListener,
}

impl Server {
    pub(crate) fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}/session", self.listener.local_addr().unwrap())
    }

    pub(crate) fn accept(&self) -> Agent {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut headers = HeaderMap::new();
        #[expect(clippy::result_large_err, reason = "the WebSocket library wants it so")]
        let note = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
            headers = request.headers().clone();
            Ok(response)
        };
        let socket = accept_hdr(stream, note).unwrap();
        Agent { socket, headers }
    }
}

/// An agent that has dialed.
pub(crate) struct Agent {
    socket: WebSocket<TcpStream>,
    headers: HeaderMap,
}

impl Agent {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    fn send(&mut self, line: &Value) {
        self.socket.send(Message::text(format!("{line}\n"))).unwrap();
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    pub(crate) fn answer(&mut self, request: &Value, response: Value) {
        self.send(&json!({"type": "control_response", "response": {
            "subtype": "success", "request_id": request["request_id"], "response": response,
        }}));
    }

    pub(crate) fn receive(&mut self) -> Value {
        loop {
            if let Message::Text(line) = self.socket.read().unwrap() {
                return serde_json::from_str(&line).unwrap();
            }
        }
    }

    fn await_kind(&mut self, kind: &str) -> Value {
        loop {
            let line = self.receive();
            if line["type"] == kind || line["request"]["subtype"] == kind {
                return line;
            }
        }
    }

    pub(crate) fn hang_up(mut self) {
        let goodbye = CloseFrame { code: CloseCode::Normal, reason: "".into() };
        self.socket.close(Some(goodbye)).unwrap();
        while self.socket.read().is_ok() {}
    }
}

/// The program, which is to dial this URL.
pub(crate) fn dialing(rig: &TestHome, url: &str, args: &[&str]) -> Command {
    let fixed = ["--sdk-url", url, "--sdk-first-wait", "1", "--model", "script"];
    rig.bowline([&fixed, args].concat())
}

fn end(child: Child) -> Ran {
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn a_session_for_a_host_elsewhere() {
    let (rig, server) = (TestHome::new(), Server::new());
    let token = rig.home().join("token");
    std::fs::write(&token, "sesame\n").unwrap();
    let child = dialing(&rig, &server.url(), &["--sdk-header", "X-Team: blue"])
        .env("CLAUDE_SESSION_INGRESS_TOKEN_FILE", &token)
        .env("BOWLINE_SDK_HEADERS", "X-Secret: word")
        .spawn()
        .unwrap();
    let mut agent = server.accept();
    assert_eq!(agent.header("authorization"), Some("Bearer sesame"));
    assert_eq!((agent.header("x-team"), agent.header("x-secret")), (Some("blue"), Some("word")));
    assert!(agent.header("user-agent").unwrap().starts_with("bowline/"));
    // It receives permission requests without a flag for it.
    agent.prompt("TOOL Bash {\"command\":\"env > seen; touch made\"}\nNEXT\nSAY done");
    let question = agent.await_kind("can_use_tool");
    agent.answer(&question, json!({"behavior": "allow"}));
    assert_eq!(agent.await_kind("result")["result"], "done");
    agent.hang_up();
    let ran = end(child);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    let seen = std::fs::read_to_string(rig.cwd().join("seen")).unwrap();
    for secret in ["TOKEN", "SDK_HEADERS"] {
        assert!(!seen.contains(secret), "{seen}");
    }
}

#[test]
fn a_prompt_on_the_command_line_is_the_first_and_waits_for_the_connection() {
    let (rig, server) = (TestHome::new(), Server::new());
    let mut command = dialing(&rig, &server.url(), &["-p", "--", "SAY at once"]);
    let child = command.env("CLAUDE_CODE_SESSION_ACCESS_TOKEN", "word").spawn().unwrap();
    let mut agent = server.accept();
    assert_eq!(agent.header("authorization"), Some("Bearer word"));
    assert_eq!(agent.header("x-last-request-id"), None);
    assert_eq!(agent.await_kind("system")["subtype"], "init");
    assert_eq!(agent.await_kind("result")["result"], "at once");
    agent.hang_up();
    assert_eq!(end(child).code, Some(0));
}

#[test]
fn a_token_from_a_descriptor() {
    let (rig, server) = (TestHome::new(), Server::new());
    // A shell gives it the descriptor, as a program that starts agents would.
    let script = "CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR=3 exec \"$@\" 3<<< ' handed over '";
    let program = env!("CARGO_BIN_EXE_bowline");
    let child = Command::new("bash")
        .args(["-c", script, "bash", program, "--sdk-url", &server.url(), "--model", "script"])
        .current_dir(rig.cwd())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", rig.home())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let agent = server.accept();
    assert_eq!(agent.header("authorization"), Some("Bearer handed over"));
    agent.hang_up();
    assert_eq!(end(child).code, Some(0));
}

#[test]
fn sdk_url_uses_the_proxy() {
    let rig = TestHome::new();
    let gateway = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", gateway.local_addr().unwrap());
    let asked = |variables: &[(&str, &str)]| {
        let mut command = dialing(&rig, "ws://host.invalid/x", &["--sdk-attempts", "0"]);
        let child = command.envs(variables.iter().copied()).spawn().unwrap();
        let (mut stream, _) = gateway.accept().unwrap();
        let mut request = [0; 64];
        let read = stream.read(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n").unwrap();
        assert!(request[..read].starts_with(b"CONNECT host.invalid:80 HTTP/1.1\r\n"));
        end(child).stderr
    };
    let refused = format!("the proxy {proxy} responded with status 403");
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy"] {
        let output = asked(&[(name, &proxy)]);
        assert!(output.contains(&refused), "{name}: {output}");
    }
    drop(gateway);
    let mut nobody = dialing(&rig, "ws://host.invalid/x", &["--sdk-attempts", "0"]);
    let output = end(nobody.env("http_proxy", &proxy).spawn().unwrap()).stderr;
    assert!(output.contains(&format!("the proxy {proxy}: Connection refused")), "{output}");
    let socks = [("ALL_PROXY", "socks5://me:secret@127.0.0.1:1")];
    let output = end(dialing(&rig, "ws://host.invalid/x", &[]).envs(socks).spawn().unwrap()).stderr;
    assert!(output.contains("all_proxy: the address of the proxy does not begin with"), "{output}");
    assert!(!output.contains("secret"), "{output}");
}

#[test]
fn a_host_that_is_lost_says_how_to_go_on() {
    let (rig, server) = (TestHome::new(), Server::new());
    let child = dialing(&rig, &server.url(), &["--sdk-attempts", "1"]).spawn().unwrap();
    let mut agent = server.accept();
    agent.prompt("SAY one");
    let result = agent.await_kind("result");
    let (url, id) = (server.url(), result["session_id"].as_str().unwrap());
    drop((agent, server));
    let ran = end(child);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(75), ""), "{}", ran.stderr);
    let advice =
        format!("The session is saved. Resume it with: bowline --resume {id} --sdk-url {url}\n");
    assert!(ran.stderr.starts_with(&format!("Error: {url} cannot be reached, after 1 attempt: ")));
    assert!(ran.stderr.ends_with(&advice), "{}", ran.stderr);
    assert_eq!(rig.ask(&["--resume", id], "SAY two").printed(), "two\n");
}

#[test]
fn host_lost_before_the_first_turn_leaves_no_session() {
    let (rig, server) = (TestHome::new(), Server::new());
    let child = dialing(&rig, &server.url(), &["--sdk-attempts", "0"]).spawn().unwrap();
    drop(server.accept());
    let ran = end(child);
    assert_eq!(ran.code, Some(75), "{}", ran.stderr);
    assert!(!ran.stderr.contains("saved"), "{}", ran.stderr);
    assert_eq!(rig.transcripts().len(), 0);
}

#[test]
fn a_host_that_never_was() {
    let rig = TestHome::new();
    let url = Server::new().url();
    let ran = Ran::from(dialing(&rig, &url, &["--sdk-attempts", "2"]).output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("after 2 attempts: Connection refused"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("saved"), "{}", ran.stderr);
}

#[test]
fn to_be_terminated_is_to_hang_up() {
    let (rig, server) = (TestHome::new(), Server::new());
    let child = dialing(&rig, &server.url(), &[]).spawn().unwrap();
    let mut agent = server.accept();
    agent.prompt("SAY part\nHANG");
    agent.await_kind("system");
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    loop {
        match agent.socket.read().unwrap() {
            Message::Close(_) => break,
            Message::Text(line) => assert!(!line.contains("\"result\""), "{line}"),
            _ => {}
        }
    }
    while agent.socket.read().is_ok() {}
    assert_eq!(end(child).code, Some(143));
}

#[test]
fn contradictory_flags_are_refused() {
    let url = "ws://127.0.0.1:9/";
    let formats = "Error: --sdk-url requires both --input-format=stream-json and \
                   --output-format=stream-json.\n";
    let cases: &[(&[&str], &str)] = &[
        (&["--sdk-url", url, "--output-format", "text"], formats),
        (&["--sdk-url", url, "--output-format", "json"], formats),
        (&["--sdk-url", url, "--input-format", "text"], formats),
        (&["--sdk-url", "http://127.0.0.1/"], {
            "Error: --sdk-url: `http://127.0.0.1/` does not begin with ws:// or wss://\n"
        }),
        (&["--sdk-url", "ws://me:secret@127.0.0.1/"], {
            "Error: --sdk-url: the URL holds a user name or password; put a token into \
             CLAUDE_CODE_SESSION_ACCESS_TOKEN instead\n"
        }),
        (&["--sdk-url", url, "--sdk-header", "Authorization: Bearer x"], {
            "Error: --sdk-header is visible to every user who can list processes; set \
             CLAUDE_CODE_SESSION_ACCESS_TOKEN to the token instead\n"
        }),
        (&["--sdk-url", url, "--sdk-ca", "none.pem"], {
            "Error: --sdk-ca: certificates in none.pem: No such file or directory (os error 2)\n"
        }),
        (&["--sdk-url", url, "--sdk-header", "nonsense"], {
            "Error: --sdk-header `nonsense` is not of the form `Name: value`\n"
        }),
    ];
    for (args, expected) in cases {
        let words = [*args, &["--model", "script"]].concat();
        let ran = Ran::from(TestHome::new().bowline(words).output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), *expected), "{args:?}");
    }
}
