//! A tool call that was denied without asking the host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{AgentId, MessageUuid, SessionId, ToolUseId},
    permission::DecisionReasonType,
};

/// A tool call was denied without a permission request: by a rule, by the mode, or because no approver
/// is attached. The turn's result lists all denials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionDeniedMessage {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The subagent that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// On what grounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_reason_type: Option<DecisionReasonType>,
    /// On what grounds, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_reason: Option<String>,
    /// On what grounds, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_reason_code: Option<String>,
    /// Text for the model.
    pub message: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
