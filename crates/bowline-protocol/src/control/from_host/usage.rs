//! What has been used up, and of which models.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ModelInfo;
use crate::{extra::Extra, raw::RawJson};

/// How much of the user's allowance is used?
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetUsage {
    /// Whether to leave out what caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_behaviors: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How much is used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageResponse {
    /// By this session.
    pub session: RawJson,
    /// What the user subscribed to.
    pub subscription_type: Option<String>,
    /// Whether the limits are known.
    pub rate_limits_available: bool,
    /// The limits and how near they are.
    pub rate_limits: Option<RawJson>,
    /// What caused it.
    pub behaviors: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Which models are there?
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListModels {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The models there are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListModelsResponse {
    /// The models.
    pub models: Vec<ModelInfo>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
