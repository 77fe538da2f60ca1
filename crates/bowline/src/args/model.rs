//! Flags about the model and what it is told.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{empty::path, limits::number};

/// The model and what it is told.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// The model: a name or alias of the Anthropic API, `openai/NAME`, `script` or `replay:FILE`
    #[arg(long, value_name = "model", allow_hyphen_values = true)]
    pub(crate) model: Option<String>,

    /// Models that take over when it is overloaded
    #[arg(long, value_name = "model", allow_hyphen_values = true)]
    pub(crate) fallback_model: Option<String>,

    /// How hard the model tries: low, medium, high, xhigh or max
    #[arg(long, value_name = "level", allow_hyphen_values = true)]
    pub(crate) effort: Option<String>,

    /// Whether the model thinks before it answers
    #[arg(long, hide = true, value_enum, value_name = "mode")]
    pub(crate) thinking: Option<ThinkingArg>,

    /// What is shown of its thoughts
    #[arg(long, hide = true, value_enum, value_name = "display")]
    pub(crate) thinking_display: Option<ThinkingDisplayArg>,

    /// How many tokens it may think; 0 for none
    #[arg(long, hide = true, value_name = "tokens", allow_hyphen_values = true, value_parser = number)]
    pub(crate) max_thinking_tokens: Option<u64>,

    /// Beta features of the API
    #[arg(long, value_name = "betas", num_args = 1..)]
    pub(crate) betas: Vec<String>,

    /// Replace the system prompt
    #[arg(long, value_name = "prompt", allow_hyphen_values = true)]
    pub(crate) system_prompt: Option<String>,

    /// Replace the system prompt with a file, which counts more
    #[arg(long, value_name = "file", allow_hyphen_values = true, value_parser = path)]
    pub(crate) system_prompt_file: Option<PathBuf>,

    /// Add to the system prompt
    #[arg(long, value_name = "prompt", allow_hyphen_values = true)]
    pub(crate) append_system_prompt: Option<String>,

    /// Add a file to the system prompt, which counts more
    #[arg(long, value_name = "file", allow_hyphen_values = true, value_parser = path)]
    pub(crate) append_system_prompt_file: Option<PathBuf>,

    /// Leave the parts that change from run to run out of the system prompt
    #[arg(long)]
    pub(crate) exclude_dynamic_system_prompt_sections: bool,

    /// Keep the system prompt as it was first
    #[arg(long, value_enum, value_name = "on|off")]
    pub(crate) system_prompt_snapshot: Option<SystemPromptSnapshot>,

    /// The agent that the conversation is with
    #[arg(long, value_name = "agent", allow_hyphen_values = true)]
    pub(crate) agent: Option<String>,

    /// Agents that others can be sent to work as: a JSON object, or a file with one
    #[arg(long, value_name = "json-or-file", allow_hyphen_values = true)]
    pub(crate) agents: Option<String>,
}

/// Whether the model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThinkingArg {
    /// Up to a budget
    Enabled,
    /// As it finds useful
    Adaptive,
    /// Not at all
    Disabled,
}

/// What is shown of the model's thoughts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThinkingDisplayArg {
    /// A summary
    Summarized,
    /// Nothing
    Omitted,
    /// The most important
    Highlights,
}

/// Whether the system prompt is kept as it was first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SystemPromptSnapshot {
    /// It is
    On,
    /// It is made anew
    Off,
}
