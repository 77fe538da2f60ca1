//! The command line as it is typed. Parsing does no I/O and decides nothing.
//!
//! Both official SDKs start the program with these flags, one with `--flag value`, the other
//! with `--flag=value`. Lists (`--allowedTools A B`) take every word up to the next flag, so
//! a prompt after one needs `--` before it.

mod doors;
mod empty;
mod error;
mod limits;
mod list;
mod mistyped;
mod model;
mod output;
mod permissions;
mod remote;
mod session;
mod sources;
mod trust;
mod unsupported;

use std::{ffi::OsString, path::PathBuf};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use self::{
    doors::{DoorArgs, McpCommand, McpServeArgs, McpServerArgs},
    error::UsageError,
    limits::{AutoCompact, LimitArgs},
    list::split_rules,
    model::{ModelArgs, SystemPromptSnapshot, ThinkingArg, ThinkingDisplayArg},
    output::{InputFormat, OutputArgs, OutputFormat},
    permissions::{PermissionArgs, PermissionPromptsArg},
    remote::RemoteArgs,
    session::SessionArgs,
    sources::SourceArgs,
    trust::TrustArgs,
};

/// One agent loop with many doors
///
/// Runs an agent for the program that started it, over its stdin and stdout, or runs one
/// prompt: `bowline -p "what does this project do?"`.
#[derive(Debug, Parser)]
#[command(
    name = "bowline",
    version,
    disable_version_flag = true,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    max_term_width = 100,
    subcommand_help_heading = "Commands"
)]
pub(crate) struct Args {
    /// A command, instead of running an agent.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Flags of an agent run.
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// Flags of an agent run.
#[derive(Debug, Default, Clone, PartialEq, clap::Args)]
pub(crate) struct RunArgs {
    /// The prompt; stdin, if it is piped, is appended to it
    pub(crate) prompt: Option<String>,

    /// Print the response and exit
    #[arg(short, long)]
    pub(crate) print: bool,

    /// Print the version and exit
    #[arg(short = 'v', long)]
    pub(crate) version: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) permissions: PermissionArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// A command, instead of running an agent.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum Command {
    /// Report the configuration, where it comes from, and problems
    Doctor,
    /// Trust a folder from now on: its settings, hooks, servers and agents apply as they are written
    Trust(TrustArgs),
    /// Watch an agent work on a small project, offline
    Demo {
        /// Keep the project's folder and print its path
        #[arg(long)]
        keep: bool,
    },
    /// Serve the script model over HTTP, as an Anthropic- and OpenAI-compatible API
    ScriptServer {
        /// Address to listen at; port 0 chooses a free one
        #[arg(long, default_value = "127.0.0.1:0", value_name = "address")]
        listen: std::net::SocketAddr,
        /// Script for prompts without directives
        #[arg(long, value_name = "file")]
        script: Option<PathBuf>,
    },
    /// MCP: serve tools and agents, log in to servers
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// Run sessions for a script, over stdin and stdout as JSON-RPC 2.0
    Rpc(Box<DoorArgs>),
    /// Print the JSON Schema of the lines that one side of a session writes
    Schema {
        /// The side that writes
        #[arg(value_enum, default_value_t = Side::Agent)]
        side: Side,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

/// One side of a session.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Side {
    /// The agent: messages, requests to its host, responses
    Agent,
    /// The host: prompts, requests to its agent, responses
    Host,
}

impl Args {
    /// Reads a command line, the program's name included.
    pub(crate) fn read(
        words: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self, UsageError> {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let wrong = |error| UsageError::of(&error, &words);
        let matches = Self::command().try_get_matches_from(&words).map_err(wrong)?;
        let mut args = Self::from_arg_matches(&matches).map_err(wrong)?;
        if let [_, word] = &words[..] {
            mistyped::check(&word.to_string_lossy())?;
        }
        args.run.drop_empty();
        args.run.imply_remote(&matches)?;
        Ok(args)
    }
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
