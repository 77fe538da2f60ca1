//! Where settings come from, and which source wins.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::SettingsError;

/// Where a setting comes from. A later one wins over an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// The user's own file, in the configuration folder.
    #[serde(rename = "userSettings")]
    User,
    /// The project's file, shared with everybody who works on it.
    #[serde(rename = "projectSettings")]
    Project,
    /// The user's own file in the project.
    #[serde(rename = "localSettings")]
    Local,
    /// The command line, and what a host applied since.
    #[serde(rename = "flagSettings")]
    Flag,
    /// Whoever manages the machine.
    #[serde(rename = "policySettings")]
    Policy,
}

impl Source {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "userSettings",
            Self::Project => "projectSettings",
            Self::Local => "localSettings",
            Self::Flag => "flagSettings",
            Self::Policy => "policySettings",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

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
