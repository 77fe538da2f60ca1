//! Usage of a session: tokens and cost by model, subagents.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, wire::open_enum};

/// Usage of one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// Input that was neither read from nor written to the cache.
    pub input_tokens: u64,
    /// Output.
    pub output_tokens: u64,
    /// Input read from the cache.
    pub cache_read_input_tokens: u64,
    /// Input written to the cache.
    pub cache_creation_input_tokens: u64,
    /// Searches the API made.
    #[serde(default)]
    pub web_search_requests: u64,
    /// Cost.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// Context window.
    #[serde(default)]
    pub context_window: u64,
    /// Output limit.
    #[serde(default)]
    pub max_output_tokens: u64,
    /// Output spent on thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u64>,
    /// Input written to the cache for five minutes.
    #[serde(
        rename = "cacheCreationEphemeral5mInputTokens",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_creation_ephemeral_5m_input_tokens: Option<u64>,
    /// Input written to the cache for an hour.
    #[serde(
        rename = "cacheCreationEphemeral1hInputTokens",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_creation_ephemeral_1h_input_tokens: Option<u64>,
    /// The model's full name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical_model: Option<String>,
    /// Provider, as in `firstParty`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Source of the price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_basis: Option<CostBasis>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Source of the price.
    CostBasis {
        /// The price list.
        List = "list",
        /// Managed settings.
        Managed = "managed",
        /// Nowhere: the price of another model was taken.
        Unknown = "unknown",
    }
}

/// Statistics of the subagents of a turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentStats {
    /// How many were started.
    pub spawned: u64,
    /// How they were requested.
    pub requested: SubagentsRequested,
    /// How many ran in the background from the start.
    pub started_in_background: u64,
    /// How deep they were nested.
    pub max_depth: u64,
    /// How many were started by other subagents.
    pub spawned_by_subagents: u64,
    /// How many finished.
    pub completed: u64,
    /// How many failed.
    pub failed: u64,
    /// How many were ended, by whom.
    pub killed: SubagentsKilled,
    /// How many were not started, why.
    pub refused: SubagentsRefused,
    /// How many were started of each type.
    pub by_type: BTreeMap<String, u64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How subagents were requested.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentsRequested {
    /// To run in the background.
    pub background: u64,
    /// To be waited for.
    pub foreground: u64,
    /// Either way.
    pub unset: u64,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Subagents ended, by cause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentsKilled {
    /// The agent that started them.
    pub parent: u64,
    /// The user.
    pub user: u64,
    /// Anything else.
    pub system: u64,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Subagents not started, by reason.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentsRefused {
    /// They would be nested too deep.
    pub depth_limit: u64,
    /// Too many run already.
    pub concurrency_limit: u64,
    /// There is no money left.
    pub budget: u64,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
