//! Commands that run as hooks: begun, under way, done.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    hook::HookEvent,
    id::{MessageUuid, SessionId},
    wire::open_enum,
};

/// A hook begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookStartedMessage {
    /// Names this run of it.
    pub hook_id: String,
    /// The event and what it was matched with, as in `PreToolUse:Bash`.
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a running hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookProgressMessage {
    /// Names this run of it.
    pub hook_id: String,
    /// The event and what it was matched with.
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// Output so far.
    pub stdout: String,
    /// Stderr so far.
    pub stderr: String,
    /// Both.
    pub output: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A hook is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookResponseMessage {
    /// Names this run of it.
    pub hook_id: String,
    /// The event and what it was matched with.
    pub hook_name: String,
    /// The event.
    pub hook_event: HookEvent,
    /// All it wrote.
    pub output: String,
    /// Output.
    pub stdout: String,
    /// Stderr.
    pub stderr: String,
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Outcome.
    pub outcome: HookOutcome,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Outcome of a hook.
    #[derive(Default)]
    HookOutcome {
        /// It did its work.
        #[default]
        Success = "success",
        /// It failed.
        Error = "error",
        /// It was stopped.
        Cancelled = "cancelled",
    }
}
