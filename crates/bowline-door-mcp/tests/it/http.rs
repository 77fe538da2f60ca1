//! The server over HTTP: who may speak to it.

use std::sync::Arc;

use bowline_door_mcp::{Access, Address, Server, ServerError, Token};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::rig::{PATIENCE, ScriptSessions, allow, is_gone, line_in};

struct Web {
    port: u16,
    stop: CancellationToken,
    server: JoinHandle<Result<(), ServerError>>,
    folder: Arc<TempDir>,
}

/// An answer: status, headers in small letters, body.
type Heard = (u16, String, String);

impl Web {
    async fn new(token: Option<&str>) -> Self {
        Self::with(token, &[]).await
    }

    async fn with(token: Option<&str>, origins: &[&str]) -> Self {
        Self::of(ScriptSessions::new(|_| {}), token, origins).await
    }

    async fn of(sessions: ScriptSessions, token: Option<&str>, origins: &[&str]) -> Self {
        let sessions = Arc::new(sessions);
        let folder = Arc::clone(&sessions.folder);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = listener.local_addr().unwrap();
        let access = token.and_then(Token::new).map_or(Access::Anyone, Access::Token);
        let origins = origins.iter().map(|origin| origin.parse().unwrap()).collect();
        let address = Address::new(listen, access, Vec::new(), origins).unwrap();
        let stop = CancellationToken::new();
        let server = Server::open(sessions, "1.2.3").unwrap();
        let server = tokio::spawn(server.serve_http(listener, address, stop.clone()));
        Self { port: listen.port(), stop, server, folder }
    }

    /// Posts a message with more headers.
    async fn post(&self, headers: &[(&str, &str)], body: &Value) -> Heard {
        self.request("POST", headers, &body.to_string()).await
    }

    async fn request(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Heard {
        self.at("/mcp", method, headers, body).await
    }

    async fn at(&self, path: &str, method: &str, headers: &[(&str, &str)], body: &str) -> Heard {
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).await.unwrap();
        let mut heard = String::new();
        timeout(PATIENCE, stream.read_to_string(&mut heard)).await.expect("an answer").unwrap();
        let (head, body) = heard.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_lowercase(), body.to_owned())
    }

    async fn initialize(&self, headers: &[(&str, &str)]) -> Heard {
        self.greet(headers, json!({})).await
    }

    async fn greet(&self, headers: &[(&str, &str)], capabilities: Value) -> Heard {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        self.post(headers, &hello).await
    }
}

#[tokio::test]
async fn a_session_from_its_beginning_to_its_end() {
    let web = Web::new(None).await;
    let (status, head, body) = web.initialize(&[]).await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("\"name\":\"bowline\""), "{body}");
    let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")];
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(web.post(&headers, &initialized).await.0, 202);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    assert!(web.post(&headers, &list).await.2.contains("\"name\":\"Bash\""));
    let call = json!({"name": "agent", "arguments": {"prompt": "SAY over the web"}});
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call});
    assert!(web.post(&headers, &call).await.2.contains("over the web"));
    web.stop.cancel();
    timeout(PATIENCE, web.server).await.expect("the server ends").unwrap().unwrap();
}

#[tokio::test]
async fn a_server_that_is_stopped_leaves_nothing_behind() {
    let web = Web::of(ScriptSessions::new(|config| allow(config, "Bash")), None, &[]).await;
    let (_, head, _) = web.initialize(&[]).await;
    let session = header(&head, "mcp-session-id").unwrap().to_owned();
    // It takes its time to end.
    let command = "trap 'sleep 1; exit' TERM; echo $$ > pid; while :; do sleep 0.01; done";
    let prompt = format!("TOOL Bash {}\nNEXT\nSAY done", json!({ "command": command }));
    let call = json!({"name": "agent", "arguments": {"prompt": prompt}});
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call});
    let pid_file = web.folder.path().join("pid");
    let headers = [("Mcp-Session-Id", &*session), ("MCP-Protocol-Version", "2025-11-25")];
    let stopped = async {
        let pid = line_in(&pid_file).await;
        web.stop.cancel();
        // A client that calls meanwhile receives the reason why no call is started any more.
        let late = json!({"name": "Bash", "arguments": {"command": "echo on"}});
        let late = json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": late});
        (pid, web.post(&headers, &late).await)
    };
    let ((_, _, answer), (pid, (_, _, late))) = tokio::join!(web.post(&headers, &call), stopped);
    assert!(answer.contains("\"id\":3") && answer.contains("cancelled"), "{answer}");
    assert!(late.contains("\"id\":4") && late.contains("the server ends"), "{late}");
    timeout(PATIENCE, web.server).await.expect("the server ends").unwrap().unwrap();
    assert!(is_gone(&pid), "process {pid} lives on");
}

#[tokio::test]
async fn only_names_of_this_machine_and_no_pages() {
    let web = Web::new(None).await;
    assert_eq!(web.initialize(&[("Host", "localhost")]).await.0, 200);
    for (name, value) in [
        ("Origin", "https://evil.example"),
        ("Origin", "http://localhost:3000"),
        ("Origin", "http://127.0.0.1"),
        ("Origin", "null"),
        ("Host", "evil.example"),
        ("Host", "localhost.evil.example"),
    ] {
        assert_eq!(web.initialize(&[(name, value)]).await.0, 403, "{name}: {value}");
    }
}

#[tokio::test]
async fn every_request_without_the_token_is_unauthorized() {
    let web = Web::new(Some("secret")).await;
    let (_, head, _) = web.initialize(&[("Authorization", "Bearer secret")]).await;
    let session = header(&head, "mcp-session-id").unwrap().to_owned();
    let stream = ("Accept", "text/event-stream");
    let headers = [("Mcp-Session-Id", &*session), ("MCP-Protocol-Version", "2025-11-25"), stream];
    for path in ["/mcp", "/mcp/", "/", "/health", "/.well-known/oauth-protected-resource"] {
        for method in ["GET", "POST", "DELETE", "PUT", "OPTIONS", "HEAD"] {
            let (status, _, body) = web.at(path, method, &headers, "{}").await;
            assert_eq!(status, 401, "{method} {path}: {body}");
        }
    }
    let replay = [headers[0], headers[1], stream, ("Last-Event-ID", "0")];
    assert_eq!(web.request("GET", &replay, "").await.0, 401);
    // The session is still there.
    let headers = [headers[0], headers[1], ("Authorization", "Bearer secret")];
    assert_eq!(web.request("DELETE", &headers, "").await.0, 202);
}

#[tokio::test]
async fn a_client_without_a_token_is_not_asked_for_permission() {
    let touch = json!({"name": "Bash", "arguments": {"command": "touch made.txt"}});
    for version in ["2025-11-25", "2026-07-28"] {
        let web = Web::new(None).await;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        });
        let mut headers = vec![("MCP-Protocol-Version".to_owned(), version.to_owned())];
        let mut call = touch.clone();
        if version == "2025-11-25" {
            let (_, head, _) = web.greet(&[], json!({"elicitation": {}})).await;
            let session = header(&head, "mcp-session-id").unwrap().to_owned();
            headers.push(("Mcp-Session-Id".to_owned(), session));
        } else {
            headers.push(("Mcp-Method".to_owned(), "tools/call".to_owned()));
            headers.push(("Mcp-Name".to_owned(), "Bash".to_owned()));
            call["_meta"] = meta;
        }
        let headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call});
        let (status, _, answer) = web.post(&headers, &call).await;
        assert_eq!(status, 200, "{version}: {answer}");
        assert!(answer.contains("asks none of them for permission"), "{version}: {answer}");
        assert!(!answer.contains("elicitation/create"), "{version}: {answer}");
        assert!(!web.folder.path().join("made.txt").exists(), "{version}");
    }
}

#[tokio::test]
async fn a_token_is_insisted_on() {
    let web = Web::new(Some("secret")).await;
    let (status, head, _) = web.initialize(&[]).await;
    assert_eq!(status, 401);
    assert!(head.contains("www-authenticate: bearer"), "{head}");
    assert_eq!(web.initialize(&[("Authorization", "Bearer wrong")]).await.0, 401);
    assert_eq!(web.initialize(&[("Authorization", "Basic secret")]).await.0, 401);
    assert_eq!(web.initialize(&[("Authorization", "Bearer secret")]).await.0, 200);
    assert_eq!(web.initialize(&[("Authorization", "bearer secret")]).await.0, 200);
}

/// What an answer says in a header.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.map(str::trim)
}

#[tokio::test]
async fn a_browser_is_told_which_pages_may_use_it() {
    let web = Web::with(Some("secret"), &["https://app.example.org"]).await;
    let page = ("Origin", "https://app.example.org");
    let wanted = [
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,mcp-session-id"),
    ];
    // It asks first, and knows no token.
    let (status, head, body) = web.request("OPTIONS", &[page, wanted[0], wanted[1]], "").await;
    assert_eq!((status, &*body), (204, ""));
    assert_eq!(header(&head, "access-control-allow-origin"), Some("https://app.example.org"));
    assert_eq!(header(&head, "access-control-allow-methods"), Some("get, post, delete"));
    let asked = Some("authorization,mcp-session-id");
    assert_eq!(header(&head, "access-control-allow-headers"), asked);
    // A page may read what it is answered, also when that is a no.
    for (token, expected) in [("Bearer secret", 200), ("Bearer wrong", 401)] {
        let (status, head, _) = web.initialize(&[page, ("Authorization", token)]).await;
        assert_eq!(status, expected);
        assert_eq!(header(&head, "access-control-allow-origin"), Some("https://app.example.org"));
        let readable = header(&head, "access-control-expose-headers").unwrap();
        assert!(readable.contains("mcp-session-id"), "{head}");
        assert!(header(&head, "vary").unwrap().contains("origin"), "{head}");
    }
    // Other pages are not, and programs need not be.
    let other = ("Origin", "https://evil.example");
    let (status, head, _) = web.request("OPTIONS", &[other, wanted[0]], "").await;
    assert_eq!((status, header(&head, "access-control-allow-origin")), (403, None));
    let (status, head, _) = web.initialize(&[("Authorization", "Bearer secret")]).await;
    assert_eq!((status, header(&head, "access-control-allow-origin")), (200, None));
}

#[tokio::test]
async fn there_is_room_for_so_many_sessions_and_no_more() {
    let web = Web::new(None).await;
    let mut last = String::new();
    for _ in 0..256 {
        let (status, head, _) = web.initialize(&[]).await;
        assert_eq!(status, 200);
        last = header(&head, "mcp-session-id").unwrap().to_owned();
    }
    let (status, _, body) = web.initialize(&[]).await;
    assert_eq!((status, &*body), (503, "there are too many sessions\n"));
    // Those that are there go on, and one that ends makes room.
    let version = ("MCP-Protocol-Version", "2025-11-25");
    let headers = [("Mcp-Session-Id", &*last), version];
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    assert_eq!(web.post(&headers, &ping).await.0, 200);
    assert_eq!(web.request("DELETE", &headers, "").await.0, 202);
    assert_eq!(web.initialize(&[]).await.0, 200);
}

#[tokio::test]
async fn a_request_has_so_many_values_and_no_more() {
    let web = Web::new(None).await;
    let many = format!("{{\"a\":[{}0]}}", "0,".repeat(300_000));
    let (status, _, body) = web.request("POST", &[], &many).await;
    assert_eq!(status, 400);
    assert!(body.starts_with("a message with too many values"), "{body}");
    let long = format!("Content-Length: {}", 65 * 1024 * 1024);
    let (status, _, _) = web.request("POST", &[("X-Padding", &"x".repeat(200_000))], "{}").await;
    assert_eq!(status, 431);
    let mut stream = TcpStream::connect(("127.0.0.1", web.port)).await.unwrap();
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{long}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut heard = vec![0; 12];
    timeout(PATIENCE, stream.read_exact(&mut heard)).await.expect("an answer").unwrap();
    assert_eq!(heard, b"HTTP/1.1 413");
}
