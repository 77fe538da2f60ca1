//! Messages about the conversation as a whole: suggested prompts, resets, goals, context usage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{MessageUuid, SessionId},
    raw::RawJson,
    wire::open_enum,
};

/// Suggested next prompt. Sent after the result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptSuggestionMessage {
    /// The words.
    pub suggestion: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The conversation is reset. `session_id` is the old session; later frames are of a new one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationResetMessage {
    /// The new session.
    pub new_conversation_id: SessionId,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<ConversationResetTrigger>,
    /// The prompt that requested it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuid: Option<MessageUuid>,
    /// When (ISO 8601).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Cause of a conversation reset.
    ConversationResetTrigger {
        /// The user cleared it.
        Clear = "clear",
        /// A plan is to be carried out without what led to it.
        PlanModeExit = "plan_mode_exit",
        /// The user wanted a new session.
        FreshSession = "fresh_session",
        /// The introduction is over.
        Onboarding = "onboarding",
    }
}

/// Active goal of the agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveGoalMessage {
    /// The goal; `null` once it is cleared.
    pub value: Option<Goal>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A goal of an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Goal {
    /// When it is reached, in words.
    pub condition: String,
    /// Attempts.
    pub iterations: u64,
    /// When it was set.
    pub set_at: RawJson,
    /// The tokens used when it was set.
    pub tokens_at_start: u64,
    /// Reason of the last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reason: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Lines that were just written to a transcript, for a host that keeps a copy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptMirrorMessage {
    /// The transcript.
    pub file_path: String,
    /// The lines.
    pub entries: Vec<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A prompt that the host named moves through the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandLifecycleMessage {
    /// The prompt.
    pub command_uuid: MessageUuid,
    /// Location.
    pub state: CommandState,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// State of a prompt in the queue.
    CommandState {
        /// It waits.
        Queued = "queued",
        /// Its turn runs.
        Started = "started",
        /// Its turn is over; sent after the result.
        Completed = "completed",
        /// It will not be run.
        Cancelled = "cancelled",
    }
}

/// How close the context is to automatic compaction. No agent has been seen to send it; all of it
/// is in `extra`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AutocompactStateMessage {
    /// Names this frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<MessageUuid>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
