//! Decides what an agent may do: a callback for single calls, a hook for a rule without exception.
//!
//! Runs offline with a scripted model; `--cli PATH` has a real agent do it.

#![expect(clippy::print_stdout, reason = "this is what a program is for")]

#[path = "support/command_line.rs"]
mod command_line;

use bowline_host::{
    Embedded, Error, HookCall, HookEvent, HookMatcher, HookOutput, Message, Options,
    PermissionResult, ToolRequest, printable, query,
};

use command_line::CLI;

/// What the scripted model does.
const SCRIPT: &str = "TOOL Bash {\"command\": \"touch harmless\", \"description\": \"Make a file\"}
NEXT
TOOL Bash {\"command\": \"git push --force\", \"description\": \"Push\"}
NEXT
SAY I did what I could.";

#[derive(serde::Deserialize)]
struct Bash {
    command: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    // A call whose input cannot be read does not run either.
    let never_by_force = HookMatcher::on("Bash")
        .run(async |call: HookCall| {
            call.parse_tool_input().map(|bash: Bash| match bash.command.contains("--force") {
                true => HookOutput::deny("not by force"),
                false => HookOutput::default(),
            })
        })
        .or_block();
    let options = agent().hook(HookEvent::PreToolUse, never_by_force).can_use_tool(
        async |request: ToolRequest| {
            let asked = format!("{} {}", request.tool_name, request.input.get());
            println!("asked about {}", printable(&asked));
            PermissionResult::deny("this is only an example")
        },
    );
    let mut messages = query("Make a file named harmless, then force-push.", options);
    while let Some(message) = messages.next().await {
        if let Message::Result(result) = message? {
            println!("agent: {}", printable(result.result.as_deref().unwrap_or("-")));
            println!("{} calls were refused", result.permission_denials.len());
        }
    }
    Ok(())
}

/// A real agent if the command line names one, else one with a script.
fn agent() -> Options {
    match command_line::read("Decides what an agent may do.", &[CLI]).get("--cli") {
        Some(path) => Options::default().cli_path(path),
        None => Options::default().embedded(Embedded::with_script(std::env::temp_dir(), SCRIPT)),
    }
}
