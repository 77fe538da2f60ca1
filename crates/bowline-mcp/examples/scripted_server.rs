//! An MCP server over stdin and stdout for the tests. The variable `SCRIPTED` changes its manners:
//! `silent` never answers, `crash` ends at once,
//! `stubborn` stays when its input ends.

#![expect(clippy::disallowed_methods, reason = "an example is a program and reads its environment")]

#[path = "../tests/it/script.rs"]
mod script;

use std::io::{self, BufRead, Write};

use script::Script;

fn main() -> io::Result<()> {
    let manners = std::env::var("SCRIPTED").unwrap_or_default();
    if manners == "crash" {
        writeln!(io::stderr(), "scripted: told to crash")?;
        std::process::exit(3);
    }
    let mut script = Script::default();
    let mut stdout = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str(&line?) else { continue };
        if manners == "silent" {
            continue;
        }
        let act = script.hear(&message);
        let Some(messages) = act.perform(&mut stdout, &mut io::stderr())? else {
            std::process::exit(1)
        };
        for message in messages {
            writeln!(stdout, "{message}")?;
        }
        stdout.flush()?;
    }
    // One that does not go when its input ends.
    if manners == "stubborn" {
        loop {
            std::thread::park();
        }
    }
    Ok(())
}
