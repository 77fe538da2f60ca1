//! Requests about models: the list, the current one, its thinking budget.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, maybe::Maybe};

/// Request for the models that can be selected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListModels {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Models that can be selected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListModelsResponse {
    /// The models.
    pub models: Vec<ModelInfo>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A model that can be selected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// The name to choose it by.
    pub value: String,
    /// The model that this name stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_model: Option<String>,
    /// The name to show.
    pub display_name: String,
    /// Description.
    pub description: String,
    /// Whether it takes an effort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_effort: Option<bool>,
    /// Supported efforts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supported_effort_levels: Option<Vec<String>>,
    /// Whether it decides by itself how long to think.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_adaptive_thinking: Option<bool>,
    /// Whether it can be fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_fast_mode: Option<bool>,
    /// Whether the `auto` permission mode works with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_auto_mode: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Changes the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetModel {
    /// The model; nothing, null or `default` for the default.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub model: Maybe<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Response: the model that applies from the next turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetModelResponse {
    /// The model, resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Changes the thinking budget.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetMaxThinkingTokens {
    /// Budget; null for the default, zero or less for none.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub max_thinking_tokens: Maybe<i64>,
    /// Display of thinking.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub thinking_display: Maybe<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
