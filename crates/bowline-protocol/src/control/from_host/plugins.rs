//! Requests to reload plugins, skills and output styles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AgentInfo;
use crate::{extra::Extra, message::SlashCommand, raw::RawJson};

/// Look for plugins again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReloadPlugins {
    /// Whether to wait if it would cost the prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_on_cache_impact: Option<bool>,
    /// Plugins to add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add_plugins: Option<RawJson>,
    /// Whether to refuse while a turn runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuse_if_busy: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Plugins, skills and commands after a reload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReloadPluginsResponse {
    /// Slash commands.
    pub commands: Vec<SlashCommand>,
    /// Kinds of subagents.
    pub agents: Vec<AgentInfo>,
    /// Plugins.
    pub plugins: Vec<RawJson>,
    /// MCP servers.
    #[serde(rename = "mcpServers")]
    pub mcp_servers: Vec<RawJson>,
    /// Plugins that failed to load.
    pub error_count: u64,
    /// Whether it waits for the prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<bool>,
    /// Effect on the prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_impact: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Look for skills again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReloadSkills {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The skills there are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReloadSkillsResponse {
    /// The skills.
    pub skills: Vec<SlashCommand>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Look for output styles again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReloadOutputStyles {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The output styles there are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReloadOutputStylesResponse {
    /// Their names.
    pub available_output_styles: Vec<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
