//! Hook input about files, directories, settings and worktrees.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extra::Extra;

/// A settings file changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigChangeInput {
    /// Kind: `user_settings`, `project_settings`, `local_settings`, `policy_settings`, `skills`.
    pub source: String,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file of instructions was loaded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InstructionsLoadedInput {
    /// The file.
    pub file_path: String,
    /// Owner: `User`, `Project`, `Local`, `Managed`.
    pub memory_type: String,
    /// Cause: `session_start`, `nested_traversal`, `path_glob_match`, `include`, `compact`.
    pub load_reason: String,
    /// The patterns it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub globs: Option<Vec<String>>,
    /// The file that brought it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_file_path: Option<String>,
    /// The file that includes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_file_path: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A worktree is wanted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeCreateInput {
    /// Name.
    pub name: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A worktree is no longer wanted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeRemoveInput {
    /// Location.
    pub worktree_path: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The working directory changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CwdChangedInput {
    /// The directory before.
    pub old_cwd: String,
    /// The directory after.
    pub new_cwd: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A watched file changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileChangedInput {
    /// The file.
    pub file_path: String,
    /// `change`, `add` or `unlink`.
    pub event: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A working directory was added.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectoryAddedInput {
    /// The directory.
    pub directory: String,
    /// By whom: `slash_command` or `register_repo_root`.
    pub source: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
