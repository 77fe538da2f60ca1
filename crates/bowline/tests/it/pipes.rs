//! Whatever stdin and stdout are, a session runs over them.

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::Shutdown,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::place::Place;

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
    let message = json!({ "role": "user", "content": "SAY heard" });
    format!("{}\n", json!({ "type": "user", "message": message }))
}

/// What the last line of a session says.
fn result(lines: &str) -> Option<Value> {
    let last: Value = serde_json::from_str(lines.lines().last()?).ok()?;
    last.get("result").cloned()
}

/// What Node gives the programs that it starts.
#[test]
fn a_session_runs_over_sockets() {
    let place = Place::new();
    let (mut input, theirs_in) = UnixStream::pair().unwrap();
    let (mut output, theirs_out) = UnixStream::pair().unwrap();
    let mut bowline = place.bowline(SESSION);
    bowline.stdin(OwnedFd::from(theirs_in)).stdout(OwnedFd::from(theirs_out));
    let mut running = bowline.spawn().unwrap();
    // It holds their ends too.
    drop(bowline);
    input.write_all(prompt().as_bytes()).unwrap();
    input.shutdown(Shutdown::Write).unwrap();
    let mut lines = String::new();
    output.read_to_string(&mut lines).unwrap();
    assert_eq!(result(&lines), Some("heard".into()), "{lines}");
    assert_eq!(running.wait().unwrap().code(), Some(0));
}

#[test]
fn a_session_runs_over_files() {
    let place = Place::new();
    let (input, output) = (place.home().join("in"), place.home().join("out"));
    fs::write(&input, prompt()).unwrap();
    let mut bowline = place.bowline(SESSION);
    bowline.stdin(File::open(input).unwrap()).stdout(File::create(&output).unwrap());
    assert_eq!(bowline.status().unwrap().code(), Some(0));
    let lines = fs::read_to_string(output).unwrap();
    assert_eq!(result(&lines), Some("heard".into()), "{lines}");
}

/// A pipe is opened anew, so that whoever else holds it never finds it not ready.
#[test]
fn nobody_else_notices_that_a_pipe_is_never_waited_for() {
    let place = Place::new();
    let (mut output, theirs) = std::io::pipe().unwrap();
    let flags = |pipe: &std::io::PipeWriter| rustix::fs::fcntl_getfl(pipe).unwrap();
    let before = flags(&theirs);
    let mut bowline = place.bowline(SESSION);
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
    assert_eq!(result(&lines), Some("heard".into()), "{lines}");
    assert_eq!(running.wait().unwrap().code(), Some(0));
}
