//! Flags of the sources of settings, servers and plugins.

use std::path::PathBuf;

use clap::Args;

use super::empty::path;

/// Where settings, servers and plugins come from.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SourceArgs {
    /// More settings: a JSON object, or a file with one
    #[arg(long, value_name = "file-or-json", allow_hyphen_values = true)]
    pub(crate) settings: Option<String>,

    /// Settings files that apply: user, project, local
    #[arg(long, value_name = "sources", allow_hyphen_values = true)]
    pub(crate) setting_sources: Option<String>,

    /// Trust this folder in this run: its settings, hooks, servers and agents apply as they are written
    #[arg(long)]
    pub(crate) trust: bool,

    /// Settings of the machine's administrator
    #[arg(long, hide = true, value_name = "json", allow_hyphen_values = true)]
    pub(crate) managed_settings: Option<String>,

    /// Managed settings come with `initialize`
    #[arg(long, hide = true)]
    pub(crate) managed_settings_in_initialize: bool,

    /// The folder whose `.claude` holds the project's settings
    #[arg(long, hide = true, value_name = "dir", allow_hyphen_values = true, value_parser = path)]
    pub(crate) project_config_root: Option<PathBuf>,

    /// MCP servers: JSON objects, or files with one
    #[arg(long, value_name = "configs", num_args = 1..)]
    pub(crate) mcp_config: Vec<String>,

    /// Use no other MCP servers
    #[arg(long)]
    pub(crate) strict_mcp_config: bool,

    /// A plugin
    #[arg(long, value_name = "path", allow_hyphen_values = true, value_parser = path)]
    pub(crate) plugin_dir: Vec<PathBuf>,

    /// A plugin without its MCP servers
    #[arg(long, hide = true, value_name = "path", allow_hyphen_values = true, value_parser = path)]
    pub(crate) plugin_dir_no_mcp: Vec<PathBuf>,

    /// Run no slash commands
    #[arg(long)]
    pub(crate) disable_slash_commands: bool,

    /// Discover nothing: no instructions, commands, agents, hooks or servers but those named here
    #[arg(long)]
    pub(crate) bare: bool,

    /// Run no commands, stay in the working directories, and read no settings files
    #[arg(long)]
    pub(crate) restricted: bool,

    /// Ignore all customization, to find out whether it causes a problem
    #[arg(long)]
    pub(crate) safe_mode: bool,
}

impl SourceArgs {
    /// Whether only built-in and named sources apply, and no files that are discovered.
    pub(crate) fn finds_nothing(&self) -> bool {
        self.bare || self.safe_mode
    }
}
