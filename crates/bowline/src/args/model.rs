//! Flags about the model and its system prompt.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{empty::path, limits::number};

/// The model and its system prompt.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// The model: a name or alias of the Anthropic API, `openai/NAME`, `script` or `replay:FILE`
    #[arg(long, value_name = "model", allow_hyphen_values = true)]
    pub(crate) model: Option<String>,

    /// Fallback models, used when the model is overloaded
    #[arg(long, value_name = "model", allow_hyphen_values = true)]
    pub(crate) fallback_model: Option<String>,

    /// Effort of the model: low, medium, high, xhigh or max
    #[arg(long, value_name = "level", allow_hyphen_values = true)]
    pub(crate) effort: Option<String>,

    /// Whether the model thinks before it responds
    #[arg(long, hide = true, value_enum, value_name = "mode")]
    pub(crate) thinking: Option<ThinkingArg>,

    /// Which part of its thinking is shown
    #[arg(long, hide = true, value_enum, value_name = "display")]
    pub(crate) thinking_display: Option<ThinkingDisplayArg>,

    /// Thinking budget in tokens; 0 disables thinking
    #[arg(long, hide = true, value_name = "tokens", allow_hyphen_values = true, value_parser = number)]
    pub(crate) max_thinking_tokens: Option<u64>,

    /// Beta features of the API
    #[arg(long, value_name = "betas", num_args = 1..)]
    pub(crate) betas: Vec<String>,

    /// Replace the system prompt
    #[arg(long, value_name = "prompt", allow_hyphen_values = true)]
    pub(crate) system_prompt: Option<String>,

    /// Replace the system prompt with a file; overrides --system-prompt
    #[arg(long, value_name = "file", allow_hyphen_values = true, value_parser = path)]
    pub(crate) system_prompt_file: Option<PathBuf>,

    /// Append to the system prompt
    #[arg(long, value_name = "prompt", allow_hyphen_values = true)]
    pub(crate) append_system_prompt: Option<String>,

    /// Append a file to the system prompt; overrides --append-system-prompt
    #[arg(long, value_name = "file", allow_hyphen_values = true, value_parser = path)]
    pub(crate) append_system_prompt_file: Option<PathBuf>,

    /// Leave the parts that change from run to run out of the system prompt
    #[arg(long)]
    pub(crate) exclude_dynamic_system_prompt_sections: bool,

    /// Keep the system prompt of the first turn
    #[arg(long, value_enum, value_name = "on|off")]
    pub(crate) system_prompt_snapshot: Option<SystemPromptSnapshot>,

    /// The main agent of the conversation
    #[arg(long, value_name = "agent", allow_hyphen_values = true)]
    pub(crate) agent: Option<String>,

    /// Subagents: a JSON object, or a file with one
    #[arg(long, value_name = "json-or-file", allow_hyphen_values = true)]
    pub(crate) agents: Option<String>,
}

/// Whether the model thinks before it responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThinkingArg {
    /// Up to a budget
    Enabled,
    /// As much as the model finds useful
    Adaptive,
    /// Not at all
    Disabled,
}

/// Which part of the model's thinking is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThinkingDisplayArg {
    /// A summary
    Summarized,
    /// Nothing
    Omitted,
    /// The most important
    Highlights,
}

/// Whether the system prompt of the first turn is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SystemPromptSnapshot {
    /// It is kept
    On,
    /// It is built again for each turn
    Off,
}
