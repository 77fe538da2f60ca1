//! Requests that prompt the user: elicitations and dialogs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra, hook::ElicitationAction, id::ToolUseId, raw::RawJson, wire::read_closed,
};

/// An MCP server requests input from the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Elicitation {
    /// The server.
    pub mcp_server_name: String,
    /// Text of the prompt.
    pub message: String,
    /// `form` or `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The page to visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Id of the elicitation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// JSON Schema of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_schema: Option<RawJson>,
    /// Order of its fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property_order: Option<Vec<String>>,
    /// A heading to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The server's name to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// More to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The user's response to an elicitation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ElicitationResponse {
    /// Whether it was accepted.
    pub action: ElicitationAction,
    /// The values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl ElicitationResponse {
    /// Accepts, with these values.
    pub fn accept(content: RawJson) -> Self {
        Self { content: Some(content), ..Self::without_content(ElicitationAction::Accept) }
    }

    /// Declines.
    pub fn decline() -> Self {
        Self::without_content(ElicitationAction::Decline)
    }

    /// The user made no choice.
    pub fn cancel() -> Self {
        Self::without_content(ElicitationAction::Cancel)
    }

    fn without_content(action: ElicitationAction) -> Self {
        Self { action, content: None, extra: Extra::new() }
    }
}

/// Show the user a dialog of a kind that the host supports.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestUserDialog {
    /// The kind.
    pub dialog_kind: String,
    /// Payload.
    pub payload: RawJson,
    /// The call that needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Outcome of a dialog.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "behavior", rename_all = "snake_case")]
pub enum UserDialogResponse {
    /// The user filled it in.
    Completed(DialogCompleted),
    /// The user went away.
    Cancelled(DialogCancelled),
}

read_closed!(UserDialogResponse, Behavior, {
    "completed" => Completed,
    "cancelled" => Cancelled,
});

/// A dialog was filled in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DialogCompleted {
    /// With what.
    pub result: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A dialog was left.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DialogCancelled {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
