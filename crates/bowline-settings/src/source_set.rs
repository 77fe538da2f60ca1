//! Selection of the settings files that are read (`--setting-sources`).

use std::str::FromStr;

use super::SettingsError;

/// Which of the files that a user may leave out are read (`--setting-sources`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceSet {
    /// The user's file.
    pub user: bool,
    /// The project's file.
    pub project: bool,
    /// The user's file in the project.
    pub local: bool,
}

impl SourceSet {
    /// None of them.
    pub const NONE: Self = Self { user: false, project: false, local: false };
    /// All of them.
    pub const ALL: Self = Self { user: true, project: true, local: true };
}

impl Default for SourceSet {
    /// All of them.
    fn default() -> Self {
        Self::ALL
    }
}

impl FromStr for SourceSet {
    type Err = SettingsError;

    /// Reads a comma separated list of `user`, `project` and `local`. An empty one means none.
    fn from_str(list: &str) -> Result<Self, SettingsError> {
        let mut set = Self::NONE;
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "user" => set.user = true,
                "project" => set.project = true,
                "local" => set.local = true,
                other => return Err(SettingsError::UnknownSource { name: other.to_owned() }),
            }
        }
        Ok(set)
    }
}
