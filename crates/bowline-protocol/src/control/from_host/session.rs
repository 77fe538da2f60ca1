//! Requests that control a session: interrupt, title, working directory, claim, end.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::InitializeResponse;
use crate::{
    agent::AgentDefinition,
    extra::Extra,
    id::{MessageUuid, SessionId},
    maybe::Maybe,
    permission::PermissionMode,
    raw::RawJson,
};

/// Interrupts the turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interrupt {
    /// Whether to drop queued prompts as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_queued: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The turn was interrupted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InterruptResponse {
    /// Prompts that still wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub still_queued: Option<Vec<MessageUuid>>,
    /// Prompts that were forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<Vec<MessageUuid>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Renames the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RenameSession {
    /// The title.
    pub title: String,
    /// Source of the request: `host` or `remote`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The session, if not this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Changes the color of the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetColor {
    /// The color.
    pub color: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Whether clients are subscribed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetHasSubscribers {
    /// Null if that is not known.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub has_subscribers: Maybe<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Changes the working directory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetCwd {
    /// The directory.
    #[serde(default)]
    pub path: String,
    /// Whether the user trusts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_accepted: Option<bool>,
    /// The directory that the user trusts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_directory: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Response: the working directory that applies now.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetCwdResponse {
    /// Outcome.
    pub status: String,
    /// The directory.
    pub cwd: String,
    /// Whether it is another one than before.
    pub changed: bool,
    /// Whether the transcript moved along.
    pub transcript_relocated: bool,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Claims a session that was started in advance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimSession {
    /// Working directory.
    pub cwd: String,
    /// Permission mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// More working directories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_directories: Option<Vec<String>>,
    /// Added to the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append_system_prompt: Option<String>,
    /// The title of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Kinds of subagents, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<BTreeMap<String, AgentDefinition>>,
    /// Whether the user trusts the directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_trust: Option<RawJson>,
    /// Names of the MCP servers inside the host.
    #[serde(default)]
    pub sdk_mcp_servers: Vec<String>,
    /// Whether the response includes that of `initialize`.
    #[serde(default)]
    pub include_initialize: bool,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Response to a claim.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimSessionResponse {
    /// Outcome: `ok`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// Working directory.
    pub cwd: String,
    /// The session.
    pub session_id: SessionId,
    /// Time since its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parked_ms: Option<u64>,
    /// Whether the MCP servers inside the host are connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sdk_mcp_settled: Option<bool>,
    /// Response to `initialize`.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub initialize: Maybe<InitializeResponse>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Ends the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndSession {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Cancels a queued prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CancelAsyncMessage {
    /// The prompt.
    #[serde(default)]
    pub message_uuid: MessageUuid,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Response: whether the prompt was still queued.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CancelAsyncMessageResponse {
    /// False if it did not wait any more.
    pub cancelled: bool,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Request for a generated session title.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GenerateSessionTitle {
    /// Description of the session.
    pub description: String,
    /// Whether to keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persist: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The generated title.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GenerateSessionTitleResponse {
    /// The title; null if none was found.
    pub title: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
