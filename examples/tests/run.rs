//! The examples of this package, run as a reader would run them: with an agent inside, and with
//! `BOWLINE_BIN` in a separate process.

#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]

use std::{path::PathBuf, process::Stdio, time::Duration};

use bowline_testkit::write_script;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};

/// Longer than anything here takes, and short enough that a hang is a failure soon.
const SOON: Duration = Duration::from_secs(60);

/// Our program with this model, as a program of its own that keeps its files in `folder`.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn agent(folder: &tempfile::TempDir, model: &str) -> Option<PathBuf> {
    let Some(bowline) = std::env::var("BOWLINE_BIN").ok().filter(|path| !path.is_empty()) else {
        eprintln!("skipped the part with a process: BOWLINE_BIN is not set");
        return None;
    };
    let (path, config) = (folder.path().join("agent"), folder.path().display());
    let script = format!("CLAUDE_CONFIG_DIR='{config}' exec '{bowline}' --model '{model}' \"$@\"");
    write_script(&path, &script);
    Some(path)
}

#[cfg(feature = "database")]
#[tokio::test]
async fn the_database_refuses_what_the_text_does_not_show() {
    let folder = tempfile::tempdir().expect("there is room");
    let source = include_str!("../src/bin/database_query.rs");
    let (_, script) = source.split_once("const SCRIPT: &str = r#\"").expect("it has a script");
    let (script, _) = script.split_once("\"#;").expect("it ends");
    let file = folder.path().join("script");
    std::fs::write(&file, script).expect("the folder is ours");
    let agent = agent(&folder, &format!("script:{}", file.display()));
    for agent in [None].into_iter().chain(agent.map(Some)) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_database_query"));
        if let Some(agent) = agent {
            command.arg("--cli").arg(agent);
        }
        let run = command.stdin(Stdio::null()).kill_on_drop(true).output();
        let run = timeout(SOON, run).await.expect("it ends").expect("it runs");
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{said}");
        assert!(said.contains("bowline") && said.contains("figure eight"), "{said}");
        assert!(!said.contains("overhand"), "{said}");
        assert!(said.contains("attempt to write a readonly database"), "{said}");
        assert!(said.contains("no such table: ropes"), "{said}");
    }
}

/// The server, and where it listens.
async fn server(agent: Option<PathBuf>) -> (Child, String) {
    let agent = agent.map(|path| ["--cli".into(), path.into_os_string()]);
    let mut server = Command::new(env!("CARGO_BIN_EXE_web_chat"))
        .args(["--listen", "127.0.0.1:0"])
        .args(agent.into_iter().flatten())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(server.stdout.take().expect("it is piped")).lines();
    let line = timeout(SOON, lines.next_line()).await.expect("it speaks").expect("it is text");
    let line = line.expect("it says where it listens");
    let address = line.strip_prefix("listening on http://").expect("it says where").to_owned();
    (server, address.trim_end_matches('/').to_owned())
}

/// One request; the whole response. The path is appended to that of the address.
async fn ask(address: &str, method: &str, path: &str, body: &str) -> String {
    let (address, base) = address.split_once('/').unwrap_or((address, ""));
    let path = if base.is_empty() { path.to_owned() } else { format!("/{base}{path}") };
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    timeout(SOON, stream.read_to_string(&mut answer)).await.expect("it ends").expect("it is text");
    answer
}

#[tokio::test]
async fn two_visitors_talk_to_agents_of_their_own() {
    let folder = tempfile::tempdir().expect("there is room");
    for agent in [None].into_iter().chain(agent(&folder, "script").map(Some)) {
        visit_twice(agent).await;
    }
}

async fn visit_twice(agent: Option<PathBuf>) {
    let (_server, address) = server(agent).await;
    let page = ask(&address, "GET", "/", "").await;
    assert!(page.contains("200 OK") && page.contains("Talk to an agent"), "{page}");
    let (port, _) = address.split_once('/').expect("there is a secret");
    for (method, path) in [("GET", "/"), ("POST", "/chat"), ("POST", "/chat/0"), ("GET", "/x/")] {
        let refused = ask(port, method, path, "SAY x").await;
        assert!(refused.contains("404 Not Found"), "{method} {path}: {refused}");
    }
    let mut numbers = Vec::new();
    for _ in 0..2 {
        let begun = ask(&address, "POST", "/chat", "").await;
        numbers.push(begun.rsplit("\r\n\r\n").next().unwrap_or_default().trim().to_owned());
    }
    assert_eq!(numbers, ["0", "1"]);
    for (number, word) in numbers.iter().zip(["bowline", "sheepshank"]) {
        let answer =
            ask(&address, "POST", &format!("/chat/{number}"), &format!("SAY {word}")).await;
        assert!(answer.contains("text/event-stream"), "{answer}");
        assert!(answer.contains(&format!("event: words\ndata: {word}")), "{answer}");
        assert!(answer.contains("event: done"), "{answer}");
    }
    assert!(ask(&address, "DELETE", "/chat/0", "").await.contains("200 OK"));
    assert!(ask(&address, "POST", "/chat/0", "SAY x").await.contains("404 Not Found"));
}
