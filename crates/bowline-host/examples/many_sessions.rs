//! Runs a thousand sessions at once in one process, each with a tool call, and reports the cost.
//!
//! Runs offline with a scripted model. `--sessions N` runs another number, `--at-once N` fewer at a
//! time, and `--cli PATH` has real agents do it, each in a separate process: start with few.

#![expect(clippy::print_stdout, reason = "this is what a program is for")]

#[path = "support/command_line.rs"]
mod command_line;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use bowline_host::{Agent, Embedded, McpServer, Options, Tool};

use command_line::{CLI, Flag};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Greeting {
    /// Who greets.
    from: String,
}

const SESSIONS: Flag = ("--sessions", "N", "number of sessions, 1000 by default");
const AT_ONCE: Flag = ("--at-once", "N", "number of concurrent sessions, all by default");

/// What the scripted model does.
const SCRIPT: &str = "TOOL mcp__desk__greet {\"from\": \"a session\"}
NEXT
SAY I have been greeted.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let said = command_line::read("Runs many sessions at once.", &[CLI, SESSIONS, AT_ONCE]);
    let number = |name| said.get(name).map(|text| whole(name, text)).transpose();
    let count = number("--sessions")?.unwrap_or(1000);
    let at_once = number("--at-once")?.unwrap_or(count);
    let greeted = Arc::new(AtomicUsize::new(0));
    let counter = greeted.clone();
    let greet = Tool::new("greet", "Greets", move |greeting: Greeting| {
        counter.fetch_add(1, Ordering::Relaxed);
        async move { format!("Hello, {}!", greeting.from) }
    });
    let options = agent(said.get("--cli"))
        .sdk_mcp_server(McpServer::new("desk").tool(greet))
        .allow(["mcp__desk__greet"]);
    let agent = Agent::builder(options).max_sessions(at_once).build()?;

    let start = Instant::now();
    let sessions: Vec<_> = (0..count).map(|_| agent.start("Say hello to the desk.")).collect();
    let mut failed = 0;
    for session in &sessions {
        let has_succeeded = session.wait().await.is_ok_and(|result| !result.is_error);
        failed += usize::from(!has_succeeded);
    }
    let (took, greeted) = (start.elapsed(), greeted.load(Ordering::Relaxed));
    println!("{count} sessions, {greeted} greetings, {failed} failures in {took:.2?}");
    if let Some(peak) = peak_memory() {
        println!("at most {peak} of memory");
    }
    match failed {
        0 => Ok(()),
        failed => Err(format!("{failed} of {count} sessions failed").into()),
    }
}

/// Peak memory of this process, where the system reports it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(|it| it.trim().to_owned())
}

/// A real agent if the command line names one, else one with a script.
fn agent(path: Option<&String>) -> Options {
    match path {
        Some(path) => Options::default().cli_path(path),
        None => Options::default().embedded(Embedded::with_script(std::env::temp_dir(), SCRIPT)),
    }
}

fn whole(name: &str, text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{name} takes a number, not `{text}`"))
}
