//! Errors of requests to a server.

use crate::login::LoginError;

/// Why a request about a server failed. Hosts show the texts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// There is no server of this name.
    #[error("Server not found: {0}")]
    NotFound(String),
    /// The server is not connected.
    #[error("MCP server not connected: {0}")]
    NotConnected(String),
    /// Only the host can reconnect a server inside it.
    #[error("SDK MCP server cannot be reconnected from here: {0}")]
    Sdk(String),
    /// A login failed.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// The server or the connection to it failed.
    #[error("{0}")]
    Failed(String),
}
