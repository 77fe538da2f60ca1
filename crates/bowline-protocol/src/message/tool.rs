//! Tool calls seen from outside: how long they take, what they came to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{AgentId, MessageUuid, SessionId, TaskId, ToolUseId},
    maybe::Maybe,
};

/// A tool call is still running.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolProgressMessage {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The tool, or the hook event that is waited for.
    pub tool_name: String,
    /// Inside a subagent: the call that started it.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Time since its start.
    pub elapsed_time_seconds: f64,
    /// The task it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Keep-alive of a call that is still running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<bool>,
    /// Of a subagent: what kind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// The subagent waits for a retry of its request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_retry: Option<SubagentRetry>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Backoff of a subagent before a retry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentRetry {
    /// The subagent.
    pub agent_id: AgentId,
    /// Number of the retry.
    pub attempt: u64,
    /// Maximum number of retries.
    pub max_retries: u64,
    /// Backoff.
    pub retry_delay_ms: u64,
    /// The HTTP status; `null` if there was no response.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub error_status: Maybe<u16>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub error_category: Maybe<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Summary of tool calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUseSummaryMessage {
    /// The words.
    pub summary: String,
    /// The calls.
    pub preceding_tool_use_ids: Vec<ToolUseId>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
