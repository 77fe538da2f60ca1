//! Flags of the doors that open sessions as their clients ask for them.

use std::{net::SocketAddr, path::PathBuf};

use bowline_door_mcp::Origin;
use clap::{Args, Subcommand};

use super::{
    LimitArgs, ModelArgs, OutputArgs, PermissionArgs, RunArgs, SessionArgs, SourceArgs, split_rules,
};

/// How the sessions behind a door are run.
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

    /// Keep nothing on disk; sessions cannot be gone on with then
    #[arg(long)]
    no_session_persistence: bool,

    /// Write down what happens inside
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

/// What to do about MCP.
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
    /// Forget the login to an MCP server
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

/// How the MCP server is reached, and how its sessions are run.
#[derive(Debug, Default, Clone, PartialEq, Args)]
pub(crate) struct McpServeArgs {
    /// Listen here for HTTP instead of using stdin and stdout; port 0 chooses a free one
    #[arg(long, value_name = "address")]
    pub(crate) http: Option<SocketAddr>,

    /// A file with the token that HTTP clients have to send (else BOWLINE_MCP_TOKEN, else one that
    /// is made, kept in the configuration folder and printed)
    #[arg(long, value_name = "file", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,

    /// Let every user and program of this machine in over HTTP; none of them is asked for permission
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
