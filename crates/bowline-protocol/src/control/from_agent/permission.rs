//! May this tool run?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    hook::McpServerRef,
    id::{AgentId, ToolUseId},
    permission::{DecisionReasonType, PermissionUpdate},
    raw::RawJson,
};

/// Permission request for a tool call, sent when neither rules nor mode decide.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CanUseTool {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub input: RawJson,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// Updates that "always allow" would apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_suggestions: Option<Vec<PermissionUpdate>>,
    /// The path that requires permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_path: Option<String>,
    /// Why permission is required, for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_reason: Option<String>,
    /// Why permission is required, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_reason_type: Option<DecisionReasonType>,
    /// Whether the classifier of the `auto` mode could have allowed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifier_approvable: Option<bool>,
    /// The subagent that wants to call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The MCP server whose tool it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<McpServerRef>,
    /// A heading to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool's name to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Description of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether not to offer "always allow".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_always_allow_rule: Option<bool>,
    /// Whether "no" should be preselected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_to_no: Option<bool>,
    /// The rule that requires permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_ask_rule: Option<MatchedRule>,
    /// Whether the tool itself prompts the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_user_interaction: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A rule that matched a call, and where it stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatchedRule {
    /// Source: `userSettings`, `cliArg` and so on.
    pub source: String,
    /// The tool.
    pub tool_name: String,
    /// Specifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_content: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
