//! Receives an agent's events and reacts to them: one hook writes a log, one changes a call before it
//! runs, one forbids, one adds context for the model, and one does not let it stop too early.
//!
//! Runs offline with a scripted model; `--cli PATH` has a real agent do it.

#![expect(clippy::print_stdout, reason = "this is what a program is for")]

#[path = "support/command_line.rs"]
mod command_line;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline_host::{
    Embedded, Error, HookCall, HookEvent, HookMatcher, HookOutput, Message, Options, printable,
    query,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use command_line::CLI;

/// What the scripted model does.
const SCRIPT: &str =
    "TOOL Bash {\"command\": \"echo the password is hunter2\", \"description\": \"Speak\"}
NEXT
TOOL Bash {\"command\": \"git push --force\", \"description\": \"Push\"}
NEXT
SAY I am done.
NEXT
SAY Now I am really done.";

#[derive(Deserialize, Serialize)]
struct Bash {
    command: String,
    /// What a hook that changes the command passes on as it is.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut messages = query("Do what you do.", hooked(agent().allow(["Bash"])));
    while let Some(message) = messages.next().await {
        if let Message::Result(result) = message? {
            println!("agent: {}", printable(result.result.as_deref().unwrap_or("-")));
        }
    }
    Ok(())
}

fn hooked(options: Options) -> Options {
    // Every event, on one line each. A log must not delay the agent.
    let log = |call: HookCall| async move {
        let input = call.tool_input().unwrap_or_default().to_string();
        println!("[{}] {}", call.input.event_name(), printable(&input));
        HookOutput::default()
    };
    let log = || HookMatcher::always().run(log).within(Duration::from_secs(1));

    // The call runs with another input than the model wrote.
    let hide = HookMatcher::on("Bash").run(async |call: HookCall| {
        let mut bash: Bash = call.parse_tool_input()?;
        if !bash.command.contains("hunter2") {
            return Ok(HookOutput::default());
        }
        bash.command = bash.command.replace("hunter2", "*******");
        HookOutput::allow().with_input(&bash)
    });

    // A rule without exception: if this hook itself fails, the call does not run either.
    let never_by_force = HookMatcher::on("Bash")
        .run(async |call: HookCall| {
            call.parse_tool_input().map(|bash: Bash| match bash.command.contains("--force") {
                true => HookOutput::deny("not by force"),
                false => HookOutput::default(),
            })
        })
        .or_block();

    // The model reads this beside the prompt.
    let context =
        HookMatcher::always().run(async |_: HookCall| HookOutput::context("It is Tuesday."));

    // The first time the model wants to stop it is sent back.
    let asked = Arc::new(AtomicBool::new(false));
    let not_yet = HookMatcher::always().run(move |_: HookCall| {
        let again = asked.swap(true, Ordering::Relaxed);
        async move {
            match again {
                true => HookOutput::default(),
                false => HookOutput::block("Are you sure? Look again."),
            }
        }
    });

    options
        .hook(HookEvent::PreToolUse, log())
        .hook(HookEvent::PreToolUse, hide)
        .hook(HookEvent::PreToolUse, never_by_force)
        .hook(HookEvent::PostToolUse, log())
        .hook(HookEvent::UserPromptSubmit, context)
        .hook(HookEvent::Stop, not_yet)
}

/// A real agent if the command line names one, else one with a script.
fn agent() -> Options {
    match command_line::read("Receives an agent's events and reacts to them.", &[CLI]).get("--cli")
    {
        Some(path) => Options::default().cli_path(path),
        None => Options::default().embedded(Embedded::with_script(std::env::temp_dir(), SCRIPT)),
    }
}
