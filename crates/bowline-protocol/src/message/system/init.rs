//! The agent introduces itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{MessageUuid, SessionId},
    maybe::Maybe,
    mcp::McpServerStatus,
    message::FastModeState,
    permission::PermissionMode,
    raw::RawJson,
    wire::open_enum,
};

/// Capabilities and configuration of the agent. Sent at the start of every turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InitMessage {
    /// The working directory.
    pub cwd: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// The tools the model is offered. The agent tool goes by its old name, `Task`.
    #[serde(default)]
    pub tools: Vec<String>,
    /// The MCP servers.
    #[serde(default)]
    pub mcp_servers: Vec<InitMcpServer>,
    /// The MCP servers that were left out, because their configuration is invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_server_errors: Option<Vec<McpServerError>>,
    /// The model, in full.
    pub model: String,
    /// Permission mode.
    #[serde(rename = "permissionMode")]
    pub permission_mode: PermissionMode,
    /// The slash commands.
    #[serde(default)]
    pub slash_commands: Vec<String>,
    /// The slash commands that only make sense in a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_slash_commands: Option<Vec<String>>,
    /// Source of the API key.
    #[serde(rename = "apiKeySource")]
    pub api_key_source: ApiKeySource,
    /// The agent's version.
    #[serde(default)]
    pub claude_code_version: String,
    /// Output style of the model.
    #[serde(default)]
    pub output_style: String,
    /// The types of subagents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<Vec<String>>,
    /// The skills.
    #[serde(default)]
    pub skills: Vec<String>,
    /// The plugins.
    #[serde(default)]
    pub plugins: Vec<InitPlugin>,
    /// The plugins that did not load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin_errors: Option<Vec<PluginError>>,
    /// Features of the API that are switched on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub betas: Option<Vec<String>>,
    /// Features of the agent that a host may rely on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
    /// Paths of the memory files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_paths: Option<RawJson>,
    /// The working directory at the start of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_cwd: Option<String>,
    /// Further directories the agent may work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_directories: Option<Vec<String>>,
    /// The socket on which other sessions can reach this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messaging_socket_path: Option<String>,
    /// Whether fast mode is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_mode_state: Option<FastModeState>,
    /// Why fast mode is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_mode_disabled_reason: Option<String>,
    /// Effort of the model.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub effort: Maybe<String>,
    /// Whether the effort can be set by turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_turn_effort_active: Option<bool>,
    /// Whether a word in the prompt can raise the effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ultrathink_available: Option<bool>,
    /// Whether that keyword is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ultrathink_typed_raises: Option<bool>,
    /// Verbosity that the user selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view_mode: Option<ViewMode>,
    /// No usage data is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analytics_disabled: Option<bool>,
    /// No survey is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product_feedback_disabled: Option<bool>,
    /// The prompts of this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Source of the API key.
    #[derive(Default)]
    ApiKeySource {
        /// The environment.
        Environment = "ANTHROPIC_API_KEY",
        /// A program that hands it out.
        Helper = "apiKeyHelper",
        /// A login that made one.
        ManagedKey = "/login managed key",
        /// No API key.
        #[default]
        None = "none",
        /// The user's settings (older agents).
        User = "user",
        /// The project's settings (older agents).
        Project = "project",
        /// The organization (older agents).
        Org = "org",
        /// Given for a time (older agents).
        Temporary = "temporary",
        /// A login (older agents).
        Oauth = "oauth",
    }
}

open_enum! {
    /// Verbosity that the user selected.
    ViewMode {
        /// The response.
        Focus = "focus",
        /// Everything.
        Default = "default",
    }
}

/// An MCP server, as the agent introduces itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InitMcpServer {
    /// Its name; its tools are `mcp__<name>__…`.
    pub name: String,
    /// Whether it can be used.
    pub status: McpServerStatus,
    /// Scope of its configuration, as in `sdk`, `dynamic`, `project`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An MCP server that was left out, because its configuration is invalid.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpServerError {
    /// Its name.
    pub name: String,
    /// Kind of error: `invalid_config`, `unknown_type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Error text.
    pub message: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A plugin, as the agent introduces itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InitPlugin {
    /// Its name.
    pub name: String,
    /// Path; `builtin` if it came with the agent.
    pub path: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Source, as `name@marketplace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A plugin that did not load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PluginError {
    /// The plugin.
    pub plugin: String,
    /// Kind of error.
    #[serde(rename = "type")]
    pub kind: String,
    /// Error text.
    pub message: String,
    /// The file at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Managed settings keep the user from changing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed_lock: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
