//! Servers on the network: streamable HTTP and the older way with events, on real sockets.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex},
};

use bowline_protocol::McpServerStatus;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream, tcp::OwnedWriteHalf},
    task::JoinSet,
};
use tokio_util::task::AbortOnDropHandle;

use crate::{rig::Rig, script::Script};

/// A server on a port of its own. Dropping it closes everything.
struct Network {
    url: String,
    _task: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct Served {
    script: Mutex<Script>,
    /// Where events go, if somebody listens.
    events: tokio::sync::Mutex<Option<OwnedWriteHalf>>,
    /// Who must be named in the authorization header.
    key: Option<&'static str>,
}

async fn network(key: Option<&'static str>) -> Network {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = Arc::new(Served { key, ..Served::default() });
    let task = tokio::spawn(async move {
        let mut open = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            open.spawn(serve(stream, Arc::clone(&served)));
        }
    });
    Network { url, _task: AbortOnDropHandle::new(task) }
}

/// Answers one request and closes.
async fn serve(stream: TcpStream, served: Arc<Served>) {
    let local = stream.local_addr().unwrap();
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if read.read_line(&mut head).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let mut lines = head.lines();
    let request = lines.next().unwrap_or_default().to_owned();
    let headers: HashMap<_, _> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    read.read_exact(&mut body).await.unwrap();
    if served.key.is_some_and(|key| headers.get("authorization") != Some(&key)) {
        let _ = write.write_all(reply("401 Unauthorized", "").as_bytes()).await;
        return;
    }
    if request.contains(" /moved ") {
        let moved = reply("307 Temporary Redirect\r\nlocation: /mcp", "");
        let _ = write.write_all(moved.as_bytes()).await;
        return;
    }
    if request.contains(" /elsewhere ") {
        // Another name for this machine, and so another server.
        let port = local.port();
        let moved =
            reply(&format!("307 Temporary Redirect\r\nlocation: http://localhost:{port}/mcp"), "");
        let _ = write.write_all(moved.as_bytes()).await;
        return;
    }
    if request.starts_with("GET /sse ") {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let first = "event: endpoint\ndata: /messages?session=1\n\n";
        write.write_all(format!("{head}{first}").as_bytes()).await.unwrap();
        *served.events.lock().await = Some(write);
        return;
    }
    if !request.starts_with("POST ") {
        let _ = write.write_all(reply("405 Method Not Allowed", "").as_bytes()).await;
        return;
    }
    let message: Value = serde_json::from_slice(&body).unwrap();
    let act = served.script.lock().unwrap().hear(&message);
    let Some(answers) = act.perform(&mut io::sink(), &mut io::sink()).unwrap() else {
        // A dead server answers nobody, and its events end.
        return drop(served.events.lock().await.take());
    };
    if request.starts_with("POST /messages?session=1 ") {
        let _ = write.write_all(reply("202 Accepted", "").as_bytes()).await;
        let mut events = served.events.lock().await;
        for answer in answers {
            let event = format!("event: message\ndata: {answer}\n\n");
            events.as_mut().unwrap().write_all(event.as_bytes()).await.unwrap();
        }
        return;
    }
    let answer = match answers.last() {
        Some(answer) => reply("200 OK", &answer.to_string()),
        None => reply("202 Accepted", ""),
    };
    let _ = write.write_all(answer.as_bytes()).await;
}

fn reply(status: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
}

#[tokio::test]
async fn streamable_http() {
    let network = network(Some("Bearer secret")).await;
    let rig = Rig::new();
    let headers = json!({"Authorization": "Bearer secret"});
    let config = json!({"type": "http", "url": format!("{}/mcp", network.url), "headers": headers});
    rig.add("net", config);
    let rig = rig.start().await;
    assert_eq!(rig.text("mcp__net__echo", json!({"text": "hi"})).await, "echo: hi");
    let status = serde_json::to_value(rig.servers.status()).unwrap();
    assert_eq!(status[0]["transport"], "http");
    let shown = json!({"type": "http", "url": format!("{}/mcp", network.url)});
    assert_eq!(status[0]["config"], shown, "headers may be secret");
    let failure = rig.call("mcp__net__fail", json!({})).await.unwrap_err();
    assert_eq!(failure.content, "it failed");
}

#[tokio::test]
async fn keys_stay_with_the_server_they_are_for() {
    let network = network(None).await;
    let rig = Rig::new();
    for path in ["moved", "elsewhere"] {
        rig.add(path, json!({"type": "http", "url": format!("{}/{path}", network.url)}));
    }
    let rig = rig.start().await;
    assert_eq!(rig.status_of("moved"), McpServerStatus::Connected, "{:?}", rig.servers.status());
    assert_eq!(rig.status_of("elsewhere"), McpServerStatus::Failed);
}

#[tokio::test]
async fn events_over_http() {
    let network = network(None).await;
    let rig = Rig::with(|setup| setup.options.backoff.attempts = 0);
    rig.add("net", json!({"type": "sse", "url": format!("{}/sse", network.url)}));
    let rig = rig.start().await;
    assert_eq!(rig.status_of("net"), McpServerStatus::Connected, "{:?}", rig.servers.status());
    assert_eq!(rig.text("mcp__net__echo", json!({"text": "hi"})).await, "echo: hi");
    rig.text("mcp__net__grow", json!({})).await;
    assert_eq!(rig.text("mcp__net__extra", json!({})).await, "extra called");

    rig.call("mcp__net__die", json!({})).await.unwrap_err();
    rig.log.wait_for("net is failed", 1).await;
    rig.servers.reconnect("net").await.unwrap();
    assert_eq!(rig.text("mcp__net__echo", json!({"text": "back"})).await, "echo: back");
}

#[tokio::test]
async fn a_server_that_wants_a_login_says_so() {
    let network = network(Some("Bearer secret")).await;
    let rig = Rig::new();
    rig.add("http", json!({"type": "http", "url": format!("{}/mcp", network.url)}));
    rig.add("sse", json!({"type": "sse", "url": format!("{}/sse", network.url)}));
    let rig = rig.start().await;
    assert_eq!(rig.status_of("http"), McpServerStatus::NeedsAuth, "{:?}", rig.servers.status());
    assert_eq!(rig.status_of("sse"), McpServerStatus::NeedsAuth, "{:?}", rig.servers.status());
}

#[tokio::test]
async fn a_port_that_nobody_listens_on_fails() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let rig = Rig::new();
    for kind in ["http", "sse"] {
        rig.add(kind, json!({"type": kind, "url": format!("http://{address}/")}));
    }
    let rig = rig.start().await;
    for server in rig.servers.status() {
        assert_eq!(server.status, McpServerStatus::Failed);
        assert!(server.error.unwrap().contains("refused"), "{}", server.name);
    }
}

#[tokio::test]
async fn a_network_server_that_goes_away_is_lost_and_found() {
    let gone = network(None).await;
    let rig = Rig::with(|setup| setup.options.backoff.attempts = 0);
    rig.add("net", json!({"type": "http", "url": format!("{}/mcp", gone.url)}));
    let rig = rig.start().await;
    drop(gone);
    let failure = rig.call("mcp__net__echo", json!({})).await.unwrap_err();
    assert!(!failure.content.is_empty());
    rig.log.wait_for("net is failed", 1).await;
}
