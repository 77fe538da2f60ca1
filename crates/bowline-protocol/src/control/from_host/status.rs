//! Requests about the agent: its status and version.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, raw::RawJson};

/// Request for a status text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetStatus {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Status text of the agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusResponse {
    /// Sections of text.
    pub sections: Vec<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Request for the version of the agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetBinaryVersion {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Version of the agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BinaryVersionResponse {
    /// The version.
    pub version: String,
    /// When it was built (ISO 8601).
    pub build_time: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
