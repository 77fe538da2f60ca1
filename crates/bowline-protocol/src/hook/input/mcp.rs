//! Hook input about elicitations of MCP servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, raw::RawJson};

/// An MCP server requests input from the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ElicitationInput {
    /// The server.
    pub mcp_server_name: String,
    /// Text of the prompt.
    pub message: String,
    /// `form` or `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The page to visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Id of the elicitation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// JSON Schema of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_schema: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The user responded to an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ElicitationResultInput {
    /// The server.
    pub mcp_server_name: String,
    /// `accept`, `decline` or `cancel`.
    pub action: String,
    /// Id of the elicitation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// `form` or `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
