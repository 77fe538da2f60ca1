//! Requests about settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, maybe::Maybe, raw::RawJson};

/// Sets settings that take precedence over those of files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApplyFlagSettings {
    /// The settings; null clears a key.
    pub settings: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Request for the settings and their sources.
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
    /// Values that apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<AppliedSettings>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The settings of one source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsSource {
    /// Source: `userSettings`, `flagSettings` and so on.
    pub source: String,
    /// Its settings.
    pub settings: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Values that apply after merging.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedSettings {
    /// The model, resolved.
    pub model: String,
    /// Effort of it.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub effort: Maybe<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Changes a settings file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpdateSettings {
    /// Which: `localSettings` or `userSettings`.
    pub source: String,
    /// The change.
    pub settings: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
