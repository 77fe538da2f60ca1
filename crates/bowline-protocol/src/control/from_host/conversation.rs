//! Requests about the conversation: side questions, the plan, an export.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, raw::RawJson};

/// Side question: a prompt outside the conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideQuestion {
    /// The question.
    pub question: String,
    /// Earlier side questions and their responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Response to a side question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideQuestionResponse {
    /// The response; null if there is none.
    pub response: Option<String>,
    /// Whether the agent responded instead of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<bool>,
    /// The model that responded after another refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal_fallback: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Request for the current plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetPlan {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanResponse {
    /// Whether there is one.
    pub exists: bool,
    /// Fields this version does not know (the plan itself).
    #[serde(flatten)]
    pub extra: Extra,
}

/// Request for the conversation as text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExportConversation {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExportConversationResponse {
    /// As a text.
    pub text: String,
    /// Suggested file name.
    pub default_filename: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
