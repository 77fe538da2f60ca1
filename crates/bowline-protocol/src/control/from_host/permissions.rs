//! Requests about permissions: the mode, and the rules that apply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    permission::{PermissionBehavior, PermissionMode},
    raw::RawJson,
};

/// Changes the permission mode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetPermissionMode {
    /// The mode from now on. Without one the request is refused like one with an unknown mode.
    #[serde(default = "no_mode")]
    pub mode: PermissionMode,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

fn no_mode() -> PermissionMode {
    PermissionMode::Other(String::new())
}

/// Response: the mode that applies now.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetPermissionModeResponse {
    /// The mode now.
    pub mode: PermissionMode,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Request for the permission rules.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListPermissionRules {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Permission rules that apply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListPermissionRulesResponse {
    /// The rules and what goes with them.
    pub state: PermissionRulesState,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Permission rules by source, and additional directories.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRulesState {
    /// The rules.
    pub rules: Vec<ListedRule>,
    /// Working directories beside the first.
    pub workspace_directories: Vec<RawJson>,
    /// The first.
    pub original_cwd: String,
    /// Whether only the administrator's rules count.
    pub managed_only: bool,
    /// Errors in some of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<RawJson>>,
    /// What was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withheld: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One permission rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedRule {
    /// Its effect on the calls it matches.
    pub behavior: PermissionBehavior,
    /// Source.
    pub source: String,
    /// The rule as a text.
    pub rule: String,
    /// Description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<RawJson>,
    /// Whether it can be changed from here.
    pub editability: String,
    /// Why it does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_in_effect: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
