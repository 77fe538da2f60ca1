//! Sessions whose log a server keeps.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

use crate::test_home::{Ran, TestHome};

/// State of a server, and the requests that it received.
#[derive(Default)]
struct Kept {
    lines: Vec<Value>,
    /// Method, path and token of every request.
    requests: Vec<(String, String, String)>,
    /// Respond to everything with this status.
    refuse: Option<u16>,
    /// Append a line of another client after so many lines.
    rival_after: Option<usize>,
    /// Drop the response to the line that makes so many, once.
    mute_after: Option<usize>,
}

/// A server that keeps one log, at any path.
struct LogServer {
    url: String,
    kept: Arc<Mutex<Kept>>,
}

impl LogServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/logs", listener.local_addr().unwrap());
        let kept = Arc::new(Mutex::new(Kept::default()));
        let shared = kept.clone();
        // It ends with the test program.
        thread::spawn(move || {
            for connection in listener.incoming() {
                serve(connection.unwrap(), &shared);
            }
        });
        Self { url, kept }
    }

    fn lines(&self) -> Vec<Value> {
        self.kept.lock().unwrap().lines.clone()
    }
}

fn serve(mut connection: TcpStream, kept: &Mutex<Kept>) {
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let (method, rest) = line.split_once(' ').unwrap();
    let (method, path) = (method.to_owned(), rest.split(' ').next().unwrap().to_owned());
    let (mut length, mut token, mut last) = (0, String::new(), Value::Null);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => value.clone_into(&mut token),
            "last-uuid" => last = value.into(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut kept = kept.lock().unwrap();
    kept.requests.push((method.clone(), path, token));
    if kept.rival_after == Some(kept.lines.len()) {
        kept.lines.push(json!({"uuid": "of another client"}));
    }
    let newest = kept.lines.last().map_or(Value::Null, |line| line["uuid"].clone());
    let (status, answer) = match kept.refuse {
        Some(status) => (status, "not you".to_owned()),
        None if method == "GET" && kept.lines.is_empty() => (404, String::new()),
        None if method == "GET" => (200, json!({"loglines": kept.lines}).to_string()),
        None if newest != last => (409, String::new()),
        None => {
            kept.lines.push(serde_json::from_slice(&body).unwrap());
            let held = kept.lines.len();
            if kept.mute_after.take_if(|count| *count == held).is_some() {
                return;
            }
            (200, String::new())
        }
    };
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: ");
    let _ = write!(connection, "{head}{}\r\n\r\n{answer}", answer.len());
}

const STREAM: [&str; 3] = ["--output-format", "stream-json", "--verbose"];

fn ask(rig: &TestHome, url: &str, prompt: &str) -> Ran {
    rig.ask(&[&STREAM[..], &["--resume", url]].concat(), prompt)
}

#[test]
fn a_session_moves_from_one_machine_to_another() {
    let server = LogServer::start();
    let url = format!("{}/one", server.url);
    let (here, there) = (TestHome::new(), TestHome::new());
    let first = ask(&here, &url, "SAY the first");
    assert_eq!((first.code, first.stderr.as_str()), (Some(0), ""));
    let stored = server.lines();
    for line in first.lines().iter().filter(|line| line["type"] == "assistant") {
        assert!(stored.iter().any(|entry| entry["uuid"] == line["uuid"]), "{line}");
    }
    assert!(!first.stdout.contains("transcript_mirror"), "{}", first.stdout);

    let second = ask(&there, &url, "SAY the second");
    assert_eq!((second.code, second.stderr.as_str()), (Some(0), ""));
    assert_ne!(first.lines()[0]["session_id"], second.lines()[0]["session_id"]);
    let transcript = fs::read_to_string(&there.transcripts()[0]).unwrap();
    assert!(transcript.contains("SAY the first") && transcript.contains("SAY the second"));
    // One chain from the first line to the last: the model received all of it.
    let lines = server.lines();
    for pair in lines.windows(2) {
        assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"], "{lines:#?}");
    }
}

#[test]
fn log_continued_by_another_client_ends_the_session() {
    let server = LogServer::start();
    server.kept.lock().unwrap().rival_after = Some(1);
    let ran = ask(&TestHome::new(), &format!("{}/one", server.url), "SAY unstored");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("was continued by another client"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("unstored"), "{}", ran.stdout);
    assert!(!ran.stdout.contains(r#""type":"result""#), "{}", ran.stdout);
}

#[test]
fn line_with_lost_response_is_stored_once() {
    let server = LogServer::start();
    server.kept.lock().unwrap().mute_after = Some(2);
    let ran = ask(&TestHome::new(), &format!("{}/one", server.url), "SAY stored");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let lines = server.lines();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "assistant"]);
}

#[test]
fn a_session_is_fetched_from_the_server_that_is_configured() {
    let server = LogServer::start();
    let rig = TestHome::new();
    let teleport = |rig: &TestHome| {
        rig.bowline(["-p", "--model", "script", "--teleport", "a b", "--", "SAY hi"])
    };
    let nowhere = Ran::from(teleport(&rig).output().unwrap());
    assert_eq!(nowhere.code, Some(1));
    assert!(nowhere.stderr.contains("BOWLINE_SESSION_SERVER"), "{}", nowhere.stderr);

    let mut command = teleport(&rig);
    command.env("BOWLINE_SESSION_SERVER", &server.url);
    command.env("CLAUDE_CODE_SESSION_ACCESS_TOKEN", "secret");
    assert_eq!(Ran::from(command.output().unwrap()).printed(), "hi\n");
    let request = server.kept.lock().unwrap().requests[0].clone();
    assert_eq!(request, ("GET".into(), "/logs/a%20b".into(), "Bearer secret".into()));

    // A shell gives it the token in a descriptor, as a program that starts agents would.
    let script = "CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR=3 exec \"$@\" 3<<< ' handed over '";
    let mut handing = Command::new("bash");
    handing.args(["-c", script, "bash"]).arg(command.get_program()).args(command.get_args());
    handing.current_dir(rig.cwd()).env_clear();
    handing.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    handing.env_remove("CLAUDE_CODE_SESSION_ACCESS_TOKEN");
    let handed = Ran::from(handing.stdin(Stdio::null()).output().unwrap());
    assert_eq!(handed.printed(), "hi\n");
    assert_eq!(server.kept.lock().unwrap().requests.last().unwrap().2, "Bearer handed over");

    let settings = json!({"bowline": {"sessionServer": server.url}}).to_string();
    fs::create_dir_all(rig.home().join(".bowline")).unwrap();
    fs::write(rig.home().join(".bowline/settings.json"), &settings).unwrap();
    assert_eq!(Ran::from(teleport(&rig).output().unwrap()).printed(), "hi\n");

    // The project is not trusted, so its settings do not choose the log server.
    let stranger = TestHome::new();
    fs::create_dir_all(stranger.cwd().join(".claude")).unwrap();
    fs::write(stranger.cwd().join(".claude/settings.json"), &settings).unwrap();
    assert_eq!(Ran::from(teleport(&stranger).output().unwrap()).code, Some(1));
}

#[test]
fn a_log_that_cannot_be_had_is_an_error_before_anything_runs() {
    let server = LogServer::start();
    let refused = |url: &str, why: &str| {
        let rig = TestHome::new();
        let ran = ask(&rig, url, "SAY hi");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
        assert!(rig.transcripts().is_empty());
    };
    server.kept.lock().unwrap().refuse = Some(401);
    refused(&server.url, "401");
    refused("ws://127.0.0.1:1/x", "must begin with http");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    refused(&format!("http://user:secret@{free}/x"), &format!("http://{free}/x cannot be reached"));
}
