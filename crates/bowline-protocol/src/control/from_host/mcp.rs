//! MCP servers: their state, their set, and their tools.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{
    extra::Extra,
    mcp::{McpServerConfig, McpServerStatus},
    permission::PermissionMode,
    raw::RawJson,
};

/// Request for the status of the MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpStatus {
    /// Whether to respond while servers are still connecting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_reply: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Status of the MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpStatusResponse {
    /// Each of them.
    pub mcp_servers: Vec<McpServerState>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpServerState {
    /// The server.
    pub name: String,
    /// Status.
    pub status: McpServerStatus,
    /// Name and version it reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<McpServerInfo>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<McpServerConfig>,
    /// Scope of its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Its plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The kind of connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// Its tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<McpToolInfo>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Name and version that an MCP server reports.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpServerInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpToolInfo {
    /// The tool.
    pub name: String,
    /// Description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Hints: whether it only reads, whether it destroys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Replace the MCP servers that were set before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpSetServers {
    /// The servers, by name.
    pub servers: BTreeMap<String, McpServerConfig>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Outcome of the MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpSetServersResponse {
    /// Servers that are new.
    pub added: Vec<String>,
    /// Servers that are gone.
    pub removed: Vec<String>,
    /// Servers that could not be reached, and why.
    pub errors: BTreeMap<String, String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Connect to an MCP server again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpReconnect {
    /// The server.
    pub server_name: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Switch an MCP server on or off.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpToggle {
    /// The server.
    pub server_name: String,
    /// On?
    pub enabled: bool,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Log in to an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpAuthenticate {
    /// The server.
    pub server_name: String,
    /// Redirect URL of the browser, if not to a port of the agent's machine. The host
    /// then hands in the address it came back with (`mcp_oauth_callback_url`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_uri: Option<String>,
    /// Whether no other address would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_uri_only: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Steps of a login to an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpAuthenticateResponse {
    /// The page on which the user agrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_url: Option<String>,
    /// Whether the user has to do anything.
    pub requires_user_action: bool,
    /// Whether the browser will come back with a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_expected: Option<bool>,
    /// Kind of redirect: `localhost`, or `custom` for an address of the host's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_scheme: Option<String>,
    /// Identifies this login.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The port on which the agent waits for the browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_port: Option<u16>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Redirect URL of an MCP login.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpOauthCallbackUrl {
    /// The server.
    pub server_name: String,
    /// The whole address, with the code in it.
    pub callback_url: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Log out of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpClearAuth {
    /// The server.
    pub server_name: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Call a tool of an MCP server. The response is the tool's result in the form of MCP.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpCall {
    /// The tool, as in `mcp__<server>__<tool>`.
    pub tool: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawJson>,
    /// Timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Timeout of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Number>,
    /// Whether the result is for the host alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_not_for_model: Option<bool>,
    /// Whether permission rules apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_permissions: Option<bool>,
    /// Files to hand in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_files: Option<RawJson>,
    /// Files to get back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_files: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Read a resource of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpReadResource {
    /// The server.
    pub server_name: String,
    /// The resource.
    pub uri: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpReadResourceResponse {
    /// Its contents as MCP has them.
    pub contents: Vec<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Notification of one of the host's MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpServerMessage {
    /// The server.
    pub server_name: String,
    /// One JSON-RPC message.
    pub message: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Be more or less strict about the tools of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetMcpPermissionModeOverride {
    /// The server.
    pub server_name: String,
    /// `default` or `auto`; null for the session's mode.
    pub mode: Option<PermissionMode>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// It was done, perhaps with a warning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarningResponse {
    /// The warning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
