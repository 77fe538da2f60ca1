//! Lends an agent a calculator.
//!
//! Runs offline with a scripted model; `--cli PATH` has a real agent do it.

#![expect(clippy::print_stdout, reason = "this is what a program is for")]

#[path = "support/command_line.rs"]
mod command_line;

use bowline_host::{
    ContentBlock, Embedded, Error, McpServer, Message, Options, Tool, printable, protocol::Content,
    query,
};

use command_line::CLI;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Pair {
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
}

/// What the scripted model says.
const SCRIPT: &str = "SAY I will ask the calculator.
TOOL mcp__calc__add {\"a\": 15, \"b\": 27}
NEXT
TOOL mcp__calc__divide {\"a\": 42, \"b\": 0}
NEXT
SAY 15 + 27 is 42, and nobody can divide that by zero.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let add = Tool::new("add", "Adds two numbers", async |it: Pair| (it.a + it.b).to_string())
        .read_only();
    let divide = Tool::new("divide", "Divides two numbers", async |it: Pair| match it.b {
        0.0 => Err("division by zero"),
        b => Ok((it.a / b).to_string()),
    })
    .read_only();
    let calculator = McpServer::new("calc").tool(add).tool(divide);

    let options = agent().sdk_mcp_server(calculator).allow(["mcp__calc__add", "mcp__calc__divide"]);
    let mut messages = query("What is 15 + 27, and what is that divided by 0?", options);
    while let Some(message) = messages.next().await {
        match message? {
            Message::Assistant(answer) => answer.message.content.iter().for_each(show),
            Message::User(results) => results.message.content.into_blocks().iter().for_each(show),
            Message::Result(result) => println!("[{} ms]", result.duration_ms),
            _ => {}
        }
    }
    Ok(())
}

fn show(block: &ContentBlock) {
    match block {
        ContentBlock::Text(block) => println!("agent: {}", printable(&block.text)),
        ContentBlock::ToolUse(block) => {
            println!("  calls {}", printable(&format!("{} {}", block.name, block.input.get())));
        }
        ContentBlock::ToolResult(block) => {
            let text = block.content.as_ref().map(Content::to_text).unwrap_or_default();
            println!(
                "  {} {}",
                if block.is_error == Some(true) { "failed:" } else { "result" },
                printable(&text)
            );
        }
        _ => {}
    }
}

/// A real agent if the command line names one, else one with a script.
fn agent() -> Options {
    match command_line::read("Lends an agent a calculator.", &[CLI]).get("--cli") {
        Some(path) => Options::default().cli_path(path),
        None => Options::default().embedded(Embedded::with_script(std::env::temp_dir(), SCRIPT)),
    }
}
