//! The one binary: what was typed, what it means, and the door it opens.

mod args;
mod commands;

use std::{io, process::ExitCode};

use clap::Parser;

use crate::args::{Args, Command};

fn main() -> anyhow::Result<ExitCode> {
    let done = match Args::parse().command {
        Command::Schema { side } => commands::schema::print(side),
    };
    match done {
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        done => done.map(|()| ExitCode::SUCCESS),
    }
}

/// Whoever read our output has seen enough. That is no error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref().is_some_and(broken)
}
