//! Questions that are answered with a text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, raw::RawJson};

/// Answer this without making it part of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideQuestion {
    /// The question.
    pub question: String,
    /// Earlier side questions and their answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The answer to a side question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideQuestionResponse {
    /// The answer; null if there is none.
    pub response: Option<String>,
    /// Whether the agent answered in the model's place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<bool>,
    /// The model that answered after another refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal_fallback: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Think of a title.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GenerateSessionTitle {
    /// What the session is about.
    pub description: String,
    /// Whether to keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persist: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A title.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GenerateSessionTitleResponse {
    /// The title; null if none was found.
    pub title: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How are you, in words?
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetStatus {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How the agent is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusResponse {
    /// Sections of text.
    pub sections: Vec<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What is the plan?
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

/// The conversation as a text.
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
    /// What a file of it might be called.
    pub default_filename: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What has the session cost?
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetSessionCost {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What the session has cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCostResponse {
    /// In words.
    pub text: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Which version are you?
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetBinaryVersion {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Which version the agent is.
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
