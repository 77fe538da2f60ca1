//! Sources of settings, in the order of their precedence.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a setting comes from. A later one wins over an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// The user's own file, in the configuration folder.
    #[serde(rename = "userSettings")]
    User,
    /// The project's file, shared by all who work on it.
    #[serde(rename = "projectSettings")]
    Project,
    /// The user's own file in the project.
    #[serde(rename = "localSettings")]
    Local,
    /// The command line, and what a host applied since.
    #[serde(rename = "flagSettings")]
    Flag,
    /// The administrator of the machine.
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
