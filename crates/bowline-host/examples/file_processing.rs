//! Has an agent work through files with tools of this program, and follows where the session is and
//! how long each tool takes.
//!
//! Runs offline with a scripted model; `--cli PATH` has a real agent do it.

#![expect(clippy::print_stdout, reason = "this is what a program is for")]

#[path = "support/command_line.rs"]
mod command_line;

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use bowline_host::{
    Agent, Embedded, McpServer, Options, Progress, SessionEvent, Structured, Tool, ToolContext,
    printable,
};
use serde_json::json;

use command_line::CLI;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct File {
    /// Its name, as listed.
    name: String,
}

/// What the scripted model does: two files are looked at side by side.
const SCRIPT: &str = "TOOL mcp__files__list {}
NEXT
TOOL mcp__files__summarize {\"name\": \"north.csv\"}
TOOL mcp__files__summarize {\"name\": \"south.csv\"}
NEXT
SAY North sold 30 knots and south sold 12.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("north.csv"), "knot,sold\nbowline,20\nclove hitch,10\n")?;
    std::fs::write(folder.path().join("south.csv"), "knot,sold\nbowline,12\n")?;

    let options = agent(folder.path())
        .sdk_mcp_server(files(folder.path()))
        .allow(["mcp__files__list", "mcp__files__summarize"]);
    let session = Agent::new(options)?.start("Sum up the sales of all CSV files.");

    let mut running = HashMap::new();
    let mut events = session.events();
    while let Some(event) = events.next().await {
        match event {
            SessionEvent::StateChange { from, to, status } => {
                let waits_for: Vec<_> =
                    status.pending_tool_calls().map(|call| call.tool_name.clone()).collect();
                println!("{from} -> {to} {}", printable(&waits_for.join(", ")));
            }
            SessionEvent::ToolCall(call) => {
                running.insert(call.id, Instant::now());
            }
            SessionEvent::ToolResult(answer) => {
                if let Some(start) = running.remove(&answer.tool_use_id) {
                    let name = printable(answer.tool_name.as_deref().unwrap_or("a tool"));
                    println!("{name} took {:.1} ms", start.elapsed().as_secs_f64() * 1000.0);
                }
            }
            SessionEvent::Error(error) => println!("went wrong: {}", printable(&error.to_string())),
            _ => {}
        }
    }
    let result = session.wait().await?;
    println!("agent: {}", printable(result.result.as_deref().unwrap_or("-")));
    let statistics = session.status().statistics();
    println!("{} calls, {} messages", statistics.tool_calls, statistics.messages);
    Ok(())
}

/// Tools that see one folder and nothing else.
fn files(folder: &Path) -> McpServer {
    let folder: Arc<Path> = folder.into();
    let listed = folder.clone();
    let list = Tool::new("list", "Lists the CSV files", move |_: Nothing| {
        let folder = listed.clone();
        async move { names(&folder).map(|names| Structured(json!({"files": names}))) }
    })
    .read_only();
    let summarize =
        Tool::new("summarize", "Sums up a CSV file", move |file: File, context: ToolContext| {
            let folder = folder.clone();
            async move { summary(&folder, &file.name, &context).await.map(Structured) }
        })
        .read_only();
    McpServer::new("files").tool(list).tool(summarize)
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".csv") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

async fn summary(
    folder: &Path,
    name: &str,
    context: &ToolContext,
) -> Result<serde_json::Value, Box<dyn std::error::Error + Send + Sync>> {
    // Only what was listed: a name is not a path.
    let path: PathBuf = match names(folder)?.iter().any(|known| known == name) {
        true => folder.join(name),
        false => return Err(format!("there is no file `{name}`").into()),
    };
    let text = std::fs::read_to_string(path)?;
    let rows: Vec<_> = text.lines().skip(1).collect();
    let mut sold = 0;
    for (number, row) in rows.iter().enumerate() {
        let (_, count) =
            row.rsplit_once(',').ok_or_else(|| format!("row {number} has no comma"))?;
        sold += count.trim().parse::<i64>()?;
        // Small counts have no room to lose anything in.
        context.progress(Progress::of((number + 1) as f64, rows.len() as f64)).await;
    }
    Ok(json!({"rows": rows.len(), "sold": sold}))
}

/// A real agent if the command line names one, else one with a script.
fn agent(folder: &Path) -> Options {
    match command_line::read(
        "Has an agent work through files, and follows where its session is.",
        &[CLI],
    )
    .get("--cli")
    {
        Some(path) => Options::default().cli_path(path).cwd(folder),
        None => Options::default().embedded(Embedded::with_script(folder, SCRIPT)),
    }
}
