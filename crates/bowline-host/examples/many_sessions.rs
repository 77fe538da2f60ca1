//! Runs a thousand sessions at once in one process, each with a tool call, and says what that takes.
//!
//! Runs offline with a scripted model. `--sessions N` runs another number, `--at-once N` fewer at a
//! time, and `--cli PATH` has real agents do it, each in a process of its own: start with few.

#![expect(clippy::print_stdout, reason = "this is what a program is for")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use bowline_host::{Agent, Embedded, Error, McpServer, Options, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Greeting {
    /// Who greets.
    from: String,
}

/// What the scripted model does.
const SCRIPT: &str = "TOOL mcp__desk__greet {\"from\": \"a session\"}
NEXT
SAY I have been greeted.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let count = number("--sessions").unwrap_or(1000);
    let greeted = Arc::new(AtomicUsize::new(0));
    let counter = greeted.clone();
    let greet = Tool::new("greet", "Greets", move |greeting: Greeting| {
        counter.fetch_add(1, Ordering::Relaxed);
        async move { format!("Hello, {}!", greeting.from) }
    });
    let options =
        agent().sdk_mcp_server(McpServer::new("desk").tool(greet)).allow(["mcp__desk__greet"]);
    let agent =
        Agent::builder(options).max_sessions(number("--at-once").unwrap_or(count)).build()?;

    let start = Instant::now();
    let sessions: Vec<_> = (0..count).map(|_| agent.start("Say hello to the desk.")).collect();
    let mut failed = 0;
    for session in &sessions {
        failed += usize::from(session.wait().await.is_err());
    }
    let (took, greeted) = (start.elapsed(), greeted.load(Ordering::Relaxed));
    println!("{count} sessions, {greeted} greetings, {failed} failures in {took:.2?}");
    if let Some(peak) = peak_memory() {
        println!("at most {peak} of memory");
    }
    Ok(())
}

/// The most memory this process has had, where the system says so.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(|it| it.trim().to_owned())
}

/// A real agent if the command line names one, else one with a script.
fn agent() -> Options {
    match argument("--cli") {
        Some(path) => Options::default().cli_path(path),
        None => Options::default().embedded(Embedded::with_script(std::env::temp_dir(), SCRIPT)),
    }
}

fn number(name: &str) -> Option<usize> {
    argument(name)?.parse().ok()
}

/// The value behind a flag.
fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}
