//! `bowline completions`: the command line, for shells.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;

/// Prints the completions of a shell.
pub(crate) fn print(shell: Shell) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "bowline", &mut text);
    io::stdout().lock().write_all(&text)?;
    Ok(())
}
