//! Flags about tools and permissions.

use bowline_protocol::PermissionMode;
use clap::{Args, ValueEnum};

/// Tools and permissions.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Tools and permissions")]
pub(crate) struct PermissionArgs {
    /// Available tools: names, "" for none, `default` for all
    #[arg(long, value_name = "tools", num_args = 1..)]
    pub(crate) tools: Option<Vec<String>>,

    /// Rules for calls that run without a prompt, as in `Bash(git *) Edit`
    #[arg(long = "allowedTools", alias = "allowed-tools", value_name = "tools", num_args = 1..)]
    pub(crate) allowed_tools: Vec<String>,

    /// Rules for calls that are denied
    #[arg(
        long = "disallowedTools",
        alias = "disallowed-tools",
        value_name = "tools",
        num_args = 1..
    )]
    pub(crate) disallowed_tools: Vec<String>,

    /// Permission mode
    #[arg(long, value_enum, value_name = "mode")]
    pub(crate) permission_mode: Option<PermissionModeArg>,

    /// Approver of permission requests: `stdio` for the host, or a tool of an MCP server
    #[arg(long, hide = true, value_name = "tool", allow_hyphen_values = true)]
    pub(crate) permission_prompt_tool: Option<String>,

    /// Target of permission requests
    #[arg(long, value_enum, value_name = "target")]
    pub(crate) permission_prompts: Option<PermissionPromptsArg>,

    /// Run every call without a prompt; for disposable machines only
    #[arg(long)]
    pub(crate) dangerously_skip_permissions: bool,

    /// Let the session switch to bypassPermissions later
    #[arg(long)]
    pub(crate) allow_dangerously_skip_permissions: bool,

    /// Additional working directories
    #[arg(long, value_name = "directories", num_args = 1..)]
    pub(crate) add_dir: Vec<String>,
}

/// Permission mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "camelCase")]
pub(crate) enum PermissionModeArg {
    /// File edits run without a prompt
    AcceptEdits,
    /// A classifier decides
    Auto,
    /// Everything runs
    BypassPermissions,
    /// Reads run, everything else needs approval
    Manual,
    /// Calls that need approval are denied
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

/// Target of permission requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PermissionPromptsArg {
    /// The host
    Host,
    /// No approver: calls that need approval are denied
    None,
}
