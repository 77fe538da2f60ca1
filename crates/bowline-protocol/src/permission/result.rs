//! Result of a permission request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PermissionUpdate;
use crate::{
    extra::Extra,
    id::ToolUseId,
    raw::RawJson,
    wire::{open_enum, read_closed},
};

/// Whether a tool may run. Anything but a clear yes or no is an error.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "behavior", rename_all = "snake_case")]
pub enum PermissionResult {
    /// It may.
    Allow(PermissionAllow),
    /// It may not.
    Deny(PermissionDeny),
}

read_closed!(PermissionResult, Behavior, { "allow" => Allow, "deny" => Deny });

impl PermissionResult {
    /// Yes, with the input as it is.
    pub fn allow() -> Self {
        Self::Allow(PermissionAllow::default())
    }

    /// Allow, with this input instead of the model's.
    pub fn allow_with(input: impl Into<RawJson>) -> Self {
        let updated_input = Some(input.into());
        Self::Allow(PermissionAllow { updated_input, ..PermissionAllow::default() })
    }

    /// Allow, with updates so that later calls need no permission request. The request itself may
    /// [suggest](crate::CanUseTool::permission_suggestions) some.
    pub fn allow_from_now_on(changes: Vec<PermissionUpdate>) -> Self {
        let updated_permissions = Some(changes);
        Self::Allow(PermissionAllow { updated_permissions, ..PermissionAllow::default() })
    }

    /// A yes with these changes as well, beside another input. A no stays as it is.
    ///
    /// ```
    /// use bowline_protocol::{
    ///     PermissionMode, PermissionResult, PermissionUpdate, UpdateDestination,
    /// };
    /// use serde_json::json;
    ///
    /// let change =
    ///     PermissionUpdate::set_mode(UpdateDestination::Session, PermissionMode::AcceptEdits);
    /// let yes = PermissionResult::allow_with(json!({"command": "ls"})).and_from_now_on([change]);
    /// ```
    #[must_use]
    pub fn and_from_now_on(mut self, changes: impl IntoIterator<Item = PermissionUpdate>) -> Self {
        if let Self::Allow(allow) = &mut self {
            allow.updated_permissions.get_or_insert_default().extend(changes);
        }
        self
    }

    /// Deny, with this text for the model.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny(PermissionDeny { message: message.into(), ..PermissionDeny::default() })
    }

    /// No, and the turn ends.
    pub fn deny_and_stop(message: impl Into<String>) -> Self {
        let (message, interrupt) = (message.into(), Some(true));
        Self::Deny(PermissionDeny { message, interrupt, ..PermissionDeny::default() })
    }
}

/// The tool may run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAllow {
    /// The whole input to run it with, instead of the model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<RawJson>,
    /// Updates so that later calls need no permission request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_permissions: Option<Vec<PermissionUpdate>>,
    /// The call this is about.
    #[serde(rename = "toolUseID", skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// Decision of the user, for statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_classification: Option<DecisionClassification>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The tool may not run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionDeny {
    /// Text for the model.
    pub message: String,
    /// Whether the turn ends as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<bool>,
    /// The call this is about.
    #[serde(rename = "toolUseID", skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// Decision of the user, for statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_classification: Option<DecisionClassification>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Decision of the user, for statistics.
    DecisionClassification {
        /// Yes, this once.
        UserTemporary = "user_temporary",
        /// Yes, from now on.
        UserPermanent = "user_permanent",
        /// No.
        UserReject = "user_reject",
    }
}
