//! Requests about usage and cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, raw::RawJson};

/// Request for the usage of the session and of the user's allowance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetUsage {
    /// Whether to leave out the breakdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_behaviors: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Usage of the session and the account.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageResponse {
    /// By this session.
    pub session: RawJson,
    /// Subscription of the user.
    pub subscription_type: Option<String>,
    /// Whether the rate limits are known.
    pub rate_limits_available: bool,
    /// Rate limits and their utilization.
    pub rate_limits: Option<RawJson>,
    /// Breakdown by cause.
    pub behaviors: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Request for the cost of the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetSessionCost {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Cost of the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCostResponse {
    /// In words.
    pub text: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
