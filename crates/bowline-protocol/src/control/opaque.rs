//! Questions that have a name but no published shape.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extra::Extra;

/// A question whose fields are not published: all of them are kept as they came.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpaqueRequest {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
