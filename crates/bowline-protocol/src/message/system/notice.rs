//! Words for the user that are not part of the conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    hook::HookEvent,
    id::{MessageUuid, SessionId, ToolUseId},
    maybe::Maybe,
    wire::open_enum,
};

/// Something the user should know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InformationalMessage {
    /// What.
    pub content: String,
    /// Level.
    pub level: InformationalLevel,
    /// The call it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// The turn ends here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prevent_continuation: Option<bool>,
    /// Tag, as in `hook_callback_failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// A hook gave no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_no_verdict: Option<HookNoVerdict>,
    /// Effect of a hook on the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_submit_outcome: Option<PromptSubmitOutcome>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Level of a notice.
    #[derive(Default)]
    InformationalLevel {
        /// For the record.
        #[default]
        Info = "info",
        /// Worth a look.
        Notice = "notice",
        /// An idea.
        Suggestion = "suggestion",
        /// Something is not as it should be.
        Warning = "warning",
    }
}

/// A hook that gave no verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookNoVerdict {
    /// The event.
    pub hook_event: HookEvent,
    /// The call it was about.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub tool_use_id: Maybe<ToolUseId>,
    /// Whether it took too long.
    pub timed_out: bool,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Effect of a hook on the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptSubmitOutcome {
    /// What.
    pub kind: PromptSubmitOutcomeKind,
    /// Whether the prompt stays in the conversation.
    pub prompt_kept: bool,
    /// Why.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub reason: Maybe<String>,
    /// Why there is no verdict, as in `callback_timed_out`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_verdict_kind: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Effect of a hook on the prompt.
    PromptSubmitOutcomeKind {
        /// It kept the prompt from the model.
        BlockedByHook = "blocked_by_hook",
        /// It ended the turn.
        StoppedByHook = "stopped_by_hook",
        /// Its startup timed out.
        NoVerdict = "no_verdict",
    }
}

/// Something to show the user for a while.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationMessage {
    /// Names what it is about; a newer one replaces an older.
    pub key: String,
    /// Text.
    pub text: String,
    /// Priority.
    pub priority: NotificationPriority,
    /// In what color.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// For how long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Priority of a notification.
    #[derive(Default)]
    NotificationPriority {
        /// When there is nothing else to show.
        #[default]
        Low = "low",
        /// In its turn.
        Medium = "medium",
        /// Before others.
        High = "high",
        /// At once.
        Immediate = "immediate",
    }
}

/// Output of a slash command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LocalCommandOutputMessage {
    /// The text.
    pub content: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An elicitation that an MCP server made outside the agent is complete.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ElicitationCompleteMessage {
    /// The server.
    pub mcp_server_name: String,
    /// Id of the elicitation.
    pub elicitation_id: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
