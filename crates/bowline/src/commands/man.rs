//! `bowline man`: the manual page.

use std::io::{self, Write};

use clap::CommandFactory;

use crate::args::Args;

/// Prints the manual page.
pub(crate) fn print() -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Args::command()).render(&mut text)?;
    io::stdout().lock().write_all(&text)?;
    Ok(())
}
