//! Hook input about tool calls and permissions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, id::ToolUseId, permission::PermissionUpdate, raw::RawJson};

/// A tool is about to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreToolUseInput {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The MCP server whose tool it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<McpServerRef>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A tool succeeded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PostToolUseInput {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub tool_input: RawJson,
    /// Structured output.
    pub tool_response: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// Duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The MCP server whose tool it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<McpServerRef>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A tool failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PostToolUseFailureInput {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// What went wrong.
    pub error: String,
    /// Whether the user stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_interrupt: Option<bool>,
    /// Duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The MCP server whose tool it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<McpServerRef>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// All parallel calls of one response are done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PostToolBatchInput {
    /// The calls.
    pub tool_calls: Vec<FinishedToolCall>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One call of a finished batch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FinishedToolCall {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The text that the model sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_response: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A permission request is about to be sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRequestInput {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub tool_input: RawJson,
    /// Updates that "always allow" would apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_suggestions: Option<Vec<PermissionUpdate>>,
    /// The MCP server whose tool it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<McpServerRef>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The `auto` mode refused a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionDeniedInput {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// Why.
    pub reason: String,
    /// The MCP server whose tool it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<McpServerRef>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// MCP server of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpServerRef {
    /// The server.
    pub name: String,
    /// Scope of its configuration: `sdk`, `user`, `project`, `plugin` and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
