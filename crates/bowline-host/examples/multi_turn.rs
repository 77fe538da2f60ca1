//! Talks to one agent for several turns and changes its mind in between.
//!
//! Runs offline with a scripted model; `--cli PATH` has a real agent do it.

#![expect(clippy::print_stdout, reason = "this is what a program is for")]

#[path = "support/command_line.rs"]
mod command_line;

use bowline_host::{Client, Embedded, Error, Options, PermissionMode, printable};

use command_line::CLI;

/// What the scripted model says, turn by turn.
const SCRIPT: &str = "SAY My favorite knot is the bowline.
NEXT
SAY Because it holds, and comes undone when you want it to.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let client = Client::connect(agent()).await?;
    println!("{} slash commands", client.supported_commands().len());
    for prompt in ["What is your favorite knot?", "Why?"] {
        client.query(prompt).await?;
        println!("you: {prompt}");
        println!("agent: {}", printable(&client.receive_response().text().await?));
        let mode = client.set_permission_mode(PermissionMode::Plan).await?;
        println!("[the mode is now {mode}]");
    }
    client.disconnect().await;
    Ok(())
}

/// A real agent if the command line names one, else one with a script.
fn agent() -> Options {
    match command_line::read("Talks to one agent for several turns.", &[CLI]).get("--cli") {
        Some(path) => Options::default().cli_path(path),
        None => Options::default().embedded(Embedded::with_script(std::env::temp_dir(), SCRIPT)),
    }
}
