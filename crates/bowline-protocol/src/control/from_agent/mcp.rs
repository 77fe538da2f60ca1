//! Messages to an MCP server inside the host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, raw::RawJson};

/// A message for one of the host's MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpMessage {
    /// The server.
    pub server_name: String,
    /// One JSON-RPC message.
    pub message: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Response of the MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpMessageResponse {
    /// One JSON-RPC response; a stand-in if the message wanted none.
    pub mcp_response: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
