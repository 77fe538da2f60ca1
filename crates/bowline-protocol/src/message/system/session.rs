//! Changes of the session itself: title, commands, files, memories, lost writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{MessageUuid, SessionId},
    message::SlashCommand,
    wire::open_enum,
};

/// The session has a new title.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTitleChangedMessage {
    /// The title.
    pub title: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The slash commands have changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandsChangedMessage {
    /// All there are now.
    pub commands: Vec<SlashCommand>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Files that the agent made were stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilesPersistedMessage {
    /// Those that were.
    pub files: Vec<PersistedFile>,
    /// Those that were not.
    pub failed: Vec<FailedFile>,
    /// When (ISO 8601).
    pub processed_at: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file that was stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PersistedFile {
    /// Its name.
    pub filename: String,
    /// Its id in the store.
    pub file_id: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file that could not be stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedFile {
    /// Its name.
    pub filename: String,
    /// Why not.
    pub error: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The agent remembered something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRecallMessage {
    /// How.
    pub mode: MemoryRecallMode,
    /// What.
    pub memories: Vec<Memory>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Way of a memory recall.
    MemoryRecallMode {
        /// It picks files.
        Select = "select",
        /// It sums files up.
        Synthesize = "synthesize",
    }
}

/// Something an agent remembers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Path.
    pub path: String,
    /// For whom it is kept.
    pub scope: String,
    /// Text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A plugin is being installed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PluginInstallMessage {
    /// Progress.
    pub status: PluginInstallStatus,
    /// The plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Progress of a plugin installation.
    PluginInstallStatus {
        /// It begins.
        Started = "started",
        /// One plugin is installed.
        Installed = "installed",
        /// One plugin is not.
        Failed = "failed",
        /// All are dealt with.
        Completed = "completed",
    }
}

/// The host's SDK could not copy the transcript to the program's store. Made by the SDK, never by
/// an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MirrorErrorMessage {
    /// Why not.
    pub error: String,
    /// The transcript.
    pub key: MirrorKey,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Names a transcript in a program's store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MirrorKey {
    /// The project.
    pub project_key: String,
    /// The session.
    pub session_id: SessionId,
    /// Transcript of the session, if not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subpath: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The disk is full; the session is not saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionWritesLostMessage {
    /// As in `ENOSPC`, `EDQUOT`.
    pub error_code: String,
    /// Lost writes.
    pub lost: Vec<LostWrite>,
    /// The sessions whose transcripts are not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_session_ids: Option<Vec<SessionId>>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Content that was lost.
    LostWrite {
        /// The conversation.
        Transcript = "transcript",
        /// The user's configuration.
        GlobalConfig = "global_config",
    }
}

/// Facts about the session. No agent has been seen to send them; all of them are in `extra`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionMetadataMessage {
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

/// Summary of a turn. Sent by older agents; all of it is in `extra`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PostTurnSummaryMessage {
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
