//! Sessions over every kind of stdin and stdout.

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::Shutdown,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::test_home::TestHome;

const SESSION: [&str; 7] = [
    "--output-format",
    "stream-json",
    "--verbose",
    "--model",
    "script",
    "--input-format",
    "stream-json",
];

fn prompt() -> String {
    let message = json!({ "role": "user", "content": "SAY received" });
    format!("{}\n", json!({ "type": "user", "message": message }))
}

/// The result in the last line of a session.
fn result(lines: &str) -> Option<Value> {
    let last: Value = serde_json::from_str(lines.lines().last()?).ok()?;
    last.get("result").cloned()
}

/// What Node gives the programs that it starts.
#[test]
fn a_session_runs_over_sockets() {
    let rig = TestHome::new();
    let (mut input, theirs_in) = UnixStream::pair().unwrap();
    let (mut output, theirs_out) = UnixStream::pair().unwrap();
    let mut bowline = rig.bowline(SESSION);
    bowline.stdin(OwnedFd::from(theirs_in)).stdout(OwnedFd::from(theirs_out));
    let mut running = bowline.spawn().unwrap();
    // It holds their ends too.
    drop(bowline);
    input.write_all(prompt().as_bytes()).unwrap();
    input.shutdown(Shutdown::Write).unwrap();
    let mut lines = String::new();
    output.read_to_string(&mut lines).unwrap();
    assert_eq!(result(&lines), Some("received".into()), "{lines}");
    assert_eq!(running.wait().unwrap().code(), Some(0));
}

#[test]
fn a_session_runs_over_files() {
    let rig = TestHome::new();
    let (input, output) = (rig.home().join("in"), rig.home().join("out"));
    fs::write(&input, prompt()).unwrap();
    let mut bowline = rig.bowline(SESSION);
    bowline.stdin(File::open(input).unwrap()).stdout(File::create(&output).unwrap());
    assert_eq!(bowline.status().unwrap().code(), Some(0));
    let lines = fs::read_to_string(output).unwrap();
    assert_eq!(result(&lines), Some("received".into()), "{lines}");
}

/// A pipe is opened again, so that non-blocking mode does not apply to other processes.
#[test]
fn shared_pipe_stays_blocking_for_other_processes() {
    let rig = TestHome::new();
    let (mut output, theirs) = std::io::pipe().unwrap();
    let flags = |pipe: &std::io::PipeWriter| rustix::fs::fcntl_getfl(pipe).unwrap();
    let before = flags(&theirs);
    let mut bowline = rig.bowline(SESSION);
    bowline.stdin(Stdio::piped()).stdout(theirs.try_clone().unwrap());
    let mut running = bowline.spawn().unwrap();
    drop(bowline);
    let mut input = running.stdin.take().unwrap();
    input.write_all(prompt().as_bytes()).unwrap();
    let mut first = [0; 64];
    output.read_exact(&mut first).unwrap();
    assert_eq!(flags(&theirs), before);
    drop((input, theirs));
    let mut lines = String::new();
    output.read_to_string(&mut lines).unwrap();
    assert_eq!(result(&lines), Some("received".into()), "{lines}");
    assert_eq!(running.wait().unwrap().code(), Some(0));
}
