//! Flags about tools and who may use them for what.

use bowline_protocol::PermissionMode;
use clap::{Args, ValueEnum};

/// Tools, and who may use them for what.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Tools and permissions")]
pub(crate) struct PermissionArgs {
    /// The tools there are: names, "" for none, `default` for all
    #[arg(long, value_name = "tools", num_args = 1..)]
    pub(crate) tools: Option<Vec<String>>,

    /// What runs without being asked about, as in `Bash(git *) Edit`
    #[arg(long = "allowedTools", alias = "allowed-tools", value_name = "tools", num_args = 1..)]
    pub(crate) allowed_tools: Vec<String>,

    /// What is refused
    #[arg(
        long = "disallowedTools",
        alias = "disallowed-tools",
        value_name = "tools",
        num_args = 1..
    )]
    pub(crate) disallowed_tools: Vec<String>,

    /// How strict to be about tools
    #[arg(long, value_enum, value_name = "mode")]
    pub(crate) permission_mode: Option<PermissionModeArg>,

    /// Who is asked: `stdio` for the host, or a tool of an MCP server
    #[arg(long, hide = true, value_name = "tool", allow_hyphen_values = true)]
    pub(crate) permission_prompt_tool: Option<String>,

    /// Whether anybody is asked at all
    #[arg(long, value_enum, value_name = "target")]
    pub(crate) permission_prompts: Option<PermissionPromptsArg>,

    /// Ask about nothing; for machines that can be thrown away
    #[arg(long)]
    pub(crate) dangerously_skip_permissions: bool,

    /// Let the session switch to that later
    #[arg(long)]
    pub(crate) allow_dangerously_skip_permissions: bool,

    /// More folders to work in
    #[arg(long, value_name = "directories", num_args = 1..)]
    pub(crate) add_dir: Vec<String>,
}

/// How strict to be about tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "camelCase")]
pub(crate) enum PermissionModeArg {
    /// Edits run
    AcceptEdits,
    /// A classifier decides
    Auto,
    /// Everything runs
    BypassPermissions,
    /// Reading runs, the rest is asked about
    Manual,
    /// What would be asked about is refused
    DontAsk,
    /// Nothing is changed
    Plan,
    /// The same as `manual`
    #[value(hide = true)]
    Default,
}

impl From<PermissionModeArg> for PermissionMode {
    fn from(mode: PermissionModeArg) -> Self {
        match mode {
            PermissionModeArg::AcceptEdits => Self::AcceptEdits,
            PermissionModeArg::Auto => Self::Auto,
            PermissionModeArg::BypassPermissions => Self::BypassPermissions,
            PermissionModeArg::Manual | PermissionModeArg::Default => Self::Default,
            PermissionModeArg::DontAsk => Self::DontAsk,
            PermissionModeArg::Plan => Self::Plan,
        }
    }
}

/// Who answers permission questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PermissionPromptsArg {
    /// The host
    Host,
    /// Nobody: what would be asked about is refused
    None,
}
