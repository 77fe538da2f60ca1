//! Flags that say what comes in and what goes out.

use std::path::PathBuf;

use clap::{Args, ValueEnum, builder::BoolishValueParser};

use super::empty::path;

/// What comes in and what goes out.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Input and output")]
pub(crate) struct OutputArgs {
    /// What is printed: the answer, one result object, or every message as it comes
    #[arg(long, value_enum, default_value_t, value_name = "format")]
    pub(crate) output_format: OutputFormat,

    /// What is read: a prompt, or messages and control requests line by line
    #[arg(long, value_enum, default_value_t, value_name = "format")]
    pub(crate) input_format: InputFormat,

    /// Print every message, not only the result
    #[arg(long)]
    pub(crate) verbose: bool,

    /// Print answers while they grow (stream-json only)
    #[arg(long)]
    pub(crate) include_partial_messages: bool,

    /// Print what hooks do (stream-json only)
    #[arg(long)]
    pub(crate) include_hook_events: bool,

    /// Repeat prompts when they are taken up (stream-json in and out only)
    #[arg(long)]
    pub(crate) replay_user_messages: bool,

    /// Print the words of subagents
    #[arg(long)]
    pub(crate) forward_subagent_text: bool,

    /// Answer in this shape
    #[arg(long, value_name = "schema", allow_hyphen_values = true)]
    pub(crate) json_schema: Option<String>,

    /// Record every exchange with the model in a file that `--model replay:FILE` plays
    #[arg(long, value_name = "file", allow_hyphen_values = true)]
    pub(crate) record: Option<PathBuf>,

    /// Say on stderr what happens; a filter as in `engine` or `debug` narrows it
    #[arg(
        short,
        long,
        value_name = "filter",
        num_args = 0..=1,
        default_missing_value = ""
    )]
    pub(crate) debug: Option<String>,

    /// Say it in a file
    #[arg(long, value_name = "path", allow_hyphen_values = true, value_parser = path)]
    pub(crate) debug_file: Option<PathBuf>,

    /// The same as --debug
    #[arg(long, hide = true)]
    pub(crate) debug_to_stderr: bool,

    /// Expect `initialize` before anything else
    #[arg(long, hide = true)]
    pub(crate) await_initialize: bool,

    /// Wait to be claimed by a host
    #[arg(long, hide = true)]
    pub(crate) await_claim: bool,

    /// Suggest prompts
    #[arg(
        long,
        hide = true,
        value_name = "value",
        num_args = 0..=1,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new()
    )]
    pub(crate) prompt_suggestions: Option<bool>,

    /// Report how the sign-in goes
    #[arg(long, hide = true)]
    pub(crate) enable_auth_status: bool,

    /// What the work is for
    #[arg(long, hide = true, value_name = "tag", allow_hyphen_values = true)]
    pub(crate) workload: Option<String>,

    /// Channels to listen to
    #[arg(long, hide = true, value_name = "servers", num_args = 1..)]
    pub(crate) channels: Vec<String>,
}

/// What is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer
    #[default]
    Text,
    /// One result object; with --verbose an array of all messages
    Json,
    /// Every message as it comes, one per line
    StreamJson,
}

/// What is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// A prompt
    #[default]
    Text,
    /// Messages and control requests, one per line
    StreamJson,
}
