//! Requests about files and directories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{extra::Extra, id::MessageUuid, raw::RawJson};

/// Rewinds files to their state before a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RewindFiles {
    /// The prompt.
    pub user_message_id: MessageUuid,
    /// Dry run: report what would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Result of a rewind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RewindFilesResponse {
    /// Whether they can be put back.
    pub can_rewind: bool,
    /// Paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_changed: Option<Vec<String>>,
    /// Lines restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insertions: Option<u64>,
    /// Lines removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletions: Option<u64>,
    /// Links left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_links: Option<u64>,
    /// Error of a failed rewind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Marks a file as read, so that it can be edited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeedReadState {
    /// The file.
    pub path: String,
    /// When it was last changed, in milliseconds since 1970.
    pub mtime: Number,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// File names that match a query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileSuggestions {
    /// Query.
    #[serde(default)]
    pub query: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// File names that match a query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileSuggestionsResponse {
    /// The files, best first.
    pub suggestions: Vec<RawJson>,
    /// Base of relative paths.
    pub cwd: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Request for the content of a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadFile {
    /// The file.
    pub path: String,
    /// Limit in bytes; 1 MiB by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// Encoding: `utf-8` or `base64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Content of a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadFileResponse {
    /// Its contents.
    pub contents: String,
    /// Location.
    pub abs_path: String,
    /// Whether there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// Encoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Whether something could not be sent as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossy: Option<bool>,
    /// Fields this version does not know (`requested_path`).
    #[serde(flatten)]
    pub extra: Extra,
}

/// Adds a directory to the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RegisterRepoRoot {
    /// The directory.
    pub directory: String,
    /// Whether to look for instructions there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reload_claude_md: Option<bool>,
    /// Whether to look for plugins there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reload_plugins: Option<bool>,
    /// Whether to look for skills there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reload_skills: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
