//! Slash commands as hosts list them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extra::Extra;

/// A slash command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlashCommand {
    /// Its name without the slash.
    pub name: String,
    /// Description.
    pub description: String,
    /// Arguments it takes.
    pub argument_hint: String,
    /// Its other names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<Vec<String>>,
    /// It came with the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
