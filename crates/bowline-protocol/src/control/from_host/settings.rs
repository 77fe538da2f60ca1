//! Settings, and the hooks and permission rules in them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra, hook::HookEvent, maybe::Maybe, permission::PermissionBehavior, raw::RawJson,
};

/// Use these settings above those of files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApplyFlagSettings {
    /// The settings; null clears a key.
    pub settings: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What are the settings, and where do they come from?
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetSettings {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetSettingsResponse {
    /// All sources put together.
    pub effective: RawJson,
    /// Each source by itself.
    pub sources: Vec<SettingsSource>,
    /// What they led to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<AppliedSettings>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The settings of one source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsSource {
    /// Where they stand: `userSettings`, `flagSettings` and so on.
    pub source: String,
    /// What stands there.
    pub settings: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What the settings led to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedSettings {
    /// The model, resolved.
    pub model: String,
    /// How hard it thinks.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub effort: Maybe<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Write into a settings file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpdateSettings {
    /// Which: `localSettings` or `userSettings`.
    pub source: String,
    /// What to write.
    pub settings: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Which hooks are there?
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetHooksListing {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The hooks there are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HooksListing {
    /// The events that have some.
    pub events: Vec<RawJson>,
    /// The hooks.
    pub hooks: Vec<RawJson>,
    /// The events that could have some.
    pub event_catalog: Vec<HookEventInfo>,
    /// What the administrator decided about hooks.
    pub policy: RawJson,
    /// Whether hooks are off for safety.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safe_mode: Option<bool>,
    /// Whether hooks are off for simplicity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bare_mode: Option<bool>,
    /// What is wrong with some of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<RawJson>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One event that could have hooks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookEventInfo {
    /// The event.
    pub name: HookEvent,
    /// When it happens.
    pub summary: String,
    /// Whether a matcher narrows it.
    pub supports_matcher: bool,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Which permission rules are there?
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListPermissionRules {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The permission rules there are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListPermissionRulesResponse {
    /// The rules and what goes with them.
    pub state: PermissionRulesState,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The permission rules there are, and the directories.
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
    /// What is wrong with some of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<RawJson>>,
    /// What is not shown.
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
    /// What it says about the calls it matches.
    pub behavior: PermissionBehavior,
    /// Where it stands.
    pub source: String,
    /// The rule as a text.
    pub rule: String,
    /// What it means, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<RawJson>,
    /// Whether it can be changed from here.
    pub editability: String,
    /// Why it does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_in_effect: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
