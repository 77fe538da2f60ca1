//! Activity of the agent: API requests, retries after a backoff, session state, thinking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{MessageUuid, RequestId, SessionId},
    maybe::Maybe,
    message::AssistantError,
    permission::PermissionMode,
    wire::open_enum,
};

/// Activity of the agent, or a change of its permission mode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusMessage {
    /// Current activity; `null` clears it.
    pub status: Option<AgentStatus>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// The mode, if it just changed.
    #[serde(rename = "permissionMode", default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// Outcome of a compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_result: Option<CompactResult>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_error: Option<String>,
    /// Progress of the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_output_chars: Option<u64>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Activity of an agent.
    AgentStatus {
        /// It summarizes the conversation.
        Compacting = "compacting",
        /// A request to the model is running.
        Requesting = "requesting",
    }
}

open_enum! {
    /// Outcome of a compaction.
    CompactResult {
        /// The conversation is shorter now.
        Success = "success",
        /// It stayed as it was.
        Failed = "failed",
    }
}

/// A request to the model failed and will be sent again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApiRetryMessage {
    /// Number of the retry, from 1.
    pub attempt: u64,
    /// Maximum number of retries.
    pub max_retries: u64,
    /// Backoff before it.
    pub retry_delay_ms: u64,
    /// The HTTP status; `null` if there was no response.
    pub error_status: Option<u16>,
    /// What went wrong.
    pub error: AssistantError,
    /// The API accepted the request and stayed silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_response: Option<NoResponse>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An API that stays silent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoResponse {
    /// Wait so far.
    pub waited_ms: u64,
    /// Next wait.
    pub retry_wait_ms: u64,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The session begins or ends its work. Only `idle` means that no more messages follow by themselves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStateChangedMessage {
    /// State.
    pub state: SessionState,
    /// Meant for the SDK of the host, not for its user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sdk_host_only: Option<bool>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// State of a session.
    #[derive(Default)]
    SessionState {
        /// It waits for a prompt; no turn is owed to a background task.
        #[default]
        Idle = "idle",
        /// It works.
        Running = "running",
        /// It waits for the host's decision.
        RequiresAction = "requires_action",
    }
}

/// Thinking tokens so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThinkingTokensMessage {
    /// About how many tokens, in this block.
    pub estimated_tokens: u64,
    /// How many of them are new.
    pub estimated_tokens_delta: i64,
    /// The prompt this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuid: Option<MessageUuid>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Progress of a control request that takes long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlRequestProgressMessage {
    /// The request.
    pub request_id: RequestId,
    /// Progress.
    pub status: RequestProgress,
    /// Number of the retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
    /// Maximum number of retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u64>,
    /// Backoff before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_delay_ms: Option<u64>,
    /// The HTTP status; `null` if there was no response.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub error_status: Maybe<u16>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Progress of a control request of the host.
    RequestProgress {
        /// The agent works on it.
        Started = "started",
        /// A request to the model failed and will be sent again.
        ApiRetry = "api_retry",
    }
}

/// The process that serves the session will end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerShuttingDownMessage {
    /// Why.
    pub reason: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
