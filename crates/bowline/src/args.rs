//! The command line as it is typed.

use clap::{Parser, Subcommand, ValueEnum};

/// One agent loop with many doors.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the JSON Schema of the lines that one side of a session writes
    Schema {
        /// The side that writes
        #[arg(value_enum, default_value_t = Side::Agent)]
        side: Side,
    },
}

/// One side of a session.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Side {
    /// The agent: messages, questions to its host, answers
    Agent,
    /// The host: prompts, questions to its agent, answers
    Host,
}
