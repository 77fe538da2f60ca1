//! Flags of the doors whose clients open sessions: `mcp serve` and `rpc`.

use std::{net::SocketAddr, path::PathBuf};

use bowline_door_mcp::Origin;
use clap::{Args, Subcommand};

use super::{
    LimitArgs, ModelArgs, OutputArgs, PermissionArgs, RunArgs, SessionArgs, SourceArgs, split_rules,
};

/// Settings of the sessions that clients of a door open.
#[derive(Debug, Default, Clone, PartialEq, Args)]
pub(crate) struct DoorArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    permissions: PermissionArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    sources: SourceArgs,

    /// Keep nothing on disk; sessions cannot be resumed then
    #[arg(long)]
    no_session_persistence: bool,

    /// Write a debug log to this file
    #[arg(long, value_name = "file")]
    debug_file: Option<PathBuf>,
}

impl DoorArgs {
    /// The tools that `--tools` names, if it was given.
    pub(crate) fn tool_names(&self) -> Option<Vec<String>> {
        self.permissions.tools.as_deref().map(split_rules)
    }

    /// The same, as the flags of one run.
    pub(crate) fn into_run(self) -> RunArgs {
        let session = SessionArgs {
            no_session_persistence: self.no_session_persistence,
            ..SessionArgs::default()
        };
        RunArgs {
            model: self.model,
            permissions: self.permissions,
            limits: self.limits,
            sources: self.sources,
            session,
            output: OutputArgs { debug_file: self.debug_file, ..OutputArgs::default() },
            ..RunArgs::default()
        }
    }
}

/// Commands about MCP.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum McpCommand {
    /// Serve the built-in tools and a whole agent to MCP clients, over stdin and stdout or HTTP
    Serve(Box<McpServeArgs>),
    /// Log in to an MCP server on the network, with OAuth, in a browser
    Login {
        /// Open no browser: print the address of the page, and take the address that it leads back
        /// to from stdin
        #[arg(long)]
        no_browser: bool,
        #[command(flatten)]
        server: Box<McpServerArgs>,
    },
    /// Delete the login to an MCP server
    Logout {
        #[command(flatten)]
        server: Box<McpServerArgs>,
    },
}

/// An MCP server that sessions in this folder would use.
#[derive(Debug, Default, Clone, PartialEq, Args)]
pub(crate) struct McpServerArgs {
    /// Its name
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}

/// Address of the MCP server, and settings of its sessions.
#[derive(Debug, Default, Clone, PartialEq, Args)]
pub(crate) struct McpServeArgs {
    /// Listen at this address for HTTP instead of using stdin and stdout; port 0 chooses a free one
    #[arg(long, value_name = "address")]
    pub(crate) http: Option<SocketAddr>,

    /// File with the token that HTTP clients have to send (default: BOWLINE_MCP_TOKEN, else a token
    /// that is generated, kept in the configuration folder and printed)
    #[arg(long, value_name = "file", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,

    /// Accept every user and program of this machine over HTTP; none of them is prompted for
    /// permission
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    pub(crate) no_token: bool,

    /// One more name under which HTTP clients reach this machine
    #[arg(long, value_name = "name", requires = "http")]
    pub(crate) allow_host: Vec<String>,

    /// Web pages from here may use the server, as in `https://example.org` (`:PORT` if it is not the
    /// usual one, `:*` for any); by default none may
    #[arg(long, value_name = "origin", requires = "http")]
    pub(crate) allow_origin: Vec<Origin>,

    #[command(flatten)]
    pub(crate) door: DoorArgs,
}
