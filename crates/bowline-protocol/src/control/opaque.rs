//! Requests whose fields are not published.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extra::Extra;

/// A request whose fields are not published: all of them are kept unchanged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpaqueRequest {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
