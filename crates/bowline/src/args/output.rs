//! Flags of input, output and debug logs.

use std::path::PathBuf;

use clap::{Args, ValueEnum, builder::BoolishValueParser};

use super::empty::path;

/// Input, output and debug logs.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Input and output")]
pub(crate) struct OutputArgs {
    /// Output: the response as text, one result object, or every message as it is emitted
    #[arg(long, value_enum, default_value_t, value_name = "format")]
    pub(crate) output_format: OutputFormat,

    /// Input: a prompt, or messages and control requests, one per line
    #[arg(long, value_enum, default_value_t, value_name = "format")]
    pub(crate) input_format: InputFormat,

    /// Print every message, not only the result
    #[arg(long)]
    pub(crate) verbose: bool,

    /// Print responses while they are streamed (stream-json only)
    #[arg(long)]
    pub(crate) include_partial_messages: bool,

    /// Print hook events (stream-json only)
    #[arg(long)]
    pub(crate) include_hook_events: bool,

    /// Echo prompts when their turn begins (stream-json in and out only)
    #[arg(long)]
    pub(crate) replay_user_messages: bool,

    /// Print the text of subagents
    #[arg(long)]
    pub(crate) forward_subagent_text: bool,

    /// JSON Schema of the structured output
    #[arg(long, value_name = "schema", allow_hyphen_values = true)]
    pub(crate) json_schema: Option<String>,

    /// Record every model request and response in a file, for `--model replay:FILE`
    #[arg(long, value_name = "file", allow_hyphen_values = true)]
    pub(crate) record: Option<PathBuf>,

    /// Write a debug log to stderr; a filter such as `engine,mcp` or `!peer` narrows it
    #[arg(
        short,
        long,
        value_name = "filter",
        num_args = 0..=1,
        default_missing_value = ""
    )]
    pub(crate) debug: Option<String>,

    /// Write the debug log to this file
    #[arg(long, value_name = "path", allow_hyphen_values = true, value_parser = path)]
    pub(crate) debug_file: Option<PathBuf>,

    /// The same as --debug
    #[arg(long, hide = true)]
    pub(crate) debug_to_stderr: bool,

    /// Expect `initialize` before anything else
    #[arg(long, hide = true)]
    pub(crate) await_initialize: bool,

    /// Wait until a host claims the process
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

    /// Report the sign-in status
    #[arg(long, hide = true)]
    pub(crate) enable_auth_status: bool,

    /// Tag of the workload
    #[arg(long, hide = true, value_name = "tag", allow_hyphen_values = true)]
    pub(crate) workload: Option<String>,

    /// Channels to listen to
    #[arg(long, hide = true, value_name = "servers", num_args = 1..)]
    pub(crate) channels: Vec<String>,
}

/// Output format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The response
    #[default]
    Text,
    /// One result object; with --verbose an array of all messages
    Json,
    /// Every message as it is emitted, one per line
    StreamJson,
}

/// Input format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// A prompt
    #[default]
    Text,
    /// Messages and control requests, one per line
    StreamJson,
}
