//! The directories that relative paths are resolved against.

use std::path::PathBuf;

/// The directories that paths in rules and commands are relative to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// Where the session started.
    pub current_directory: PathBuf,
    /// The user's home directory.
    pub home: Option<PathBuf>,
}
