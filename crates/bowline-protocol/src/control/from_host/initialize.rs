//! The `initialize` request, which opens a session: options of the host, capabilities of the agent.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::ModelInfo;

use crate::{
    agent::AgentDefinition,
    extra::Extra,
    hook::{HookEvent, HookMatcher},
    maybe::Maybe,
    mcp::McpToolPolicy,
    message::{FastModeState, SlashCommand},
    permission::PermissionMode,
    raw::RawJson,
    wire::open_enum,
};

/// A part of a [system prompt](Initialize::system_prompt) that is not sent: the text before it is the
/// same in every session, the text after it is not.
pub const SYSTEM_PROMPT_DYNAMIC_BOUNDARY: &str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

/// Options of the host. All are optional; a later `initialize` replaces those it sets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Initialize {
    /// Callbacks, by event.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub hooks: Maybe<BTreeMap<HookEvent, Vec<HookMatcher>>>,
    /// Names of the MCP servers inside the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sdk_mcp_servers: Option<Vec<String>>,
    /// Settings of those servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sdk_mcp_server_configs: Option<BTreeMap<String, SdkMcpServerConfig>>,
    /// Handshake responses of those servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sdk_mcp_server_manifests: Option<BTreeMap<String, SdkMcpServerManifest>>,
    /// Origin of the manifests: `host_per_send` on remote transports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sdk_mcp_server_manifests_origin: Option<String>,
    /// JSON Schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<RawJson>,
    /// System prompt that replaces the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<Vec<String>>,
    /// Added to the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append_system_prompt: Option<String>,
    /// Added to the system prompt of subagents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append_subagent_system_prompt: Option<String>,
    /// Whether to record the system prompt once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt_snapshot: Option<bool>,
    /// Instructions for the model in the `plan` mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_mode_instructions: Option<String>,
    /// Other names for tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_aliases: Option<BTreeMap<String, String>>,
    /// Whether to leave out the parts of the system prompt that change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude_dynamic_sections: Option<bool>,
    /// Kinds of subagents, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<BTreeMap<String, AgentDefinition>>,
    /// The title of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The skills to offer; all if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Whether to suggest a next prompt after each turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_suggestions: Option<bool>,
    /// Whether to sum up what subagents are doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_progress_summaries: Option<bool>,
    /// Whether to forward messages of subagents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_subagent_text: Option<bool>,
    /// Dialogs that the host can show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supported_dialog_kinds: Option<Vec<String>>,
    /// Whether the host can stop single tasks, so that `interrupt` leaves them alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_task_stop_affordance: Option<bool>,
    /// Plugins to load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Vec<PluginSource>>,
    /// Settings above all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_settings: Option<RawJson>,
    /// Fields this version does not know (`workspaceTrust`, `codeRunningMcpTools`, `rapidFollowupPreempt`).
    #[serde(flatten)]
    pub extra: Extra,
}

/// Settings of an MCP server inside the host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SdkMcpServerConfig {
    /// Timeout, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Number>,
    /// Policy for some of its tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<McpToolPolicy>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Handshake response of an MCP server inside the host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SdkMcpServerManifest {
    /// To `initialize`.
    pub initialize_result: RawJson,
    /// To `tools/list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_list_result: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Location of a plugin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PluginSource {
    /// `local`.
    pub r#type: String,
    /// Its directory.
    pub path: String,
    /// Whether to leave its MCP servers alone.
    #[serde(rename = "skipMcpDiscovery", skip_serializing_if = "Option::is_none")]
    pub skip_mcp_discovery: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Capabilities of the agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InitializeResponse {
    /// Slash commands.
    #[serde(default)]
    pub commands: Vec<SlashCommand>,
    /// Kinds of subagents.
    #[serde(default)]
    pub agents: Vec<AgentInfo>,
    /// The output style in use.
    #[serde(default)]
    pub output_style: String,
    /// The output styles there are.
    #[serde(default)]
    pub available_output_styles: Vec<String>,
    /// Models that can be selected.
    #[serde(default)]
    pub models: Vec<ModelInfo>,
    /// Account that is billed.
    #[serde(default)]
    pub account: AccountInfo,
    /// Whether the hooks were taken; present if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks_applied: Option<bool>,
    /// Whether `onFailure` of hooks is honored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_on_failure_supported: Option<bool>,
    /// Whether the plugins were taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugins_applied: Option<bool>,
    /// Whether the managed settings were taken; present if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_settings_applied: Option<bool>,
    /// Outcome of the manifests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sdk_mcp_manifests_parked: Option<BTreeMap<String, ManifestOutcome>>,
    /// The version of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claude_code_version: Option<String>,
    /// Whether fast mode is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_mode_state: Option<FastModeState>,
    /// Reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_mode_disabled_reason: Option<String>,
    /// The agent's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u64>,
    /// Permission mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_permission_mode: Option<PermissionMode>,
    /// Session state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_state: Option<String>,
    /// Optional capabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
    /// Fields this version does not know (`user_output_styles_dir`, `feedback_mode`, `remote_control_available`).
    #[serde(flatten)]
    pub extra: Extra,
}

/// A subagent type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentInfo {
    /// Its name.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// Its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Account that is billed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountInfo {
    /// The user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Their organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Subscription.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscription_type: Option<String>,
    /// Source of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_source: Option<String>,
    /// Source of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_source: Option<String>,
    /// API provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_provider: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Outcome of the manifest of an MCP server.
    ManifestOutcome {
        /// Kept for the handshake.
        Parked = "parked",
        /// Not needed any more.
        AlreadyConnected = "already_connected",
        /// Made for another version of MCP.
        ProtocolVersionMismatch = "protocol_version_mismatch",
        /// Not readable.
        Malformed = "malformed",
        /// Ignored.
        NotHonored = "not_honored",
    }
}
