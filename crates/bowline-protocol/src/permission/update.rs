//! Changes to the permissions of a session: offered as "always allow", returned with a permission result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PermissionBehavior, PermissionMode, PermissionRule};
use crate::{
    extra::Extra,
    raw::RawJson,
    wire::{open_enum, read_by_tag},
};

/// One change to a session's permissions.
///
/// ```
/// use bowline_protocol::{
///     PermissionBehavior, PermissionMode, PermissionRule, PermissionUpdate, UpdateDestination,
/// };
///
/// let git = PermissionRule::scoped("Bash", "git *");
/// let here = UpdateDestination::Session;
/// let changes = [
///     PermissionUpdate::add_rules(here.clone(), PermissionBehavior::Allow, [git]),
///     PermissionUpdate::set_mode(here.clone(), PermissionMode::AcceptEdits),
///     PermissionUpdate::add_directories(here, ["/srv/data"]),
/// ];
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub enum PermissionUpdate {
    /// More rules.
    AddRules(RulesUpdate),
    /// Replace all other rules of the same behavior and destination.
    ReplaceRules(RulesUpdate),
    /// Fewer rules.
    RemoveRules(RulesUpdate),
    /// Another mode.
    SetMode(ModeUpdate),
    /// More working directories.
    AddDirectories(DirectoriesUpdate),
    /// Fewer working directories.
    RemoveDirectories(DirectoriesUpdate),
    /// A change this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(PermissionUpdate, Type, {
    "addRules" => AddRules,
    "replaceRules" => ReplaceRules,
    "removeRules" => RemoveRules,
    "setMode" => SetMode,
    "addDirectories" => AddDirectories,
    "removeDirectories" => RemoveDirectories,
});

impl PermissionUpdate {
    /// Adds rules with this effect.
    pub fn add_rules(
        destination: UpdateDestination,
        behavior: PermissionBehavior,
        rules: impl IntoIterator<Item = PermissionRule>,
    ) -> Self {
        Self::AddRules(RulesUpdate::new(destination, behavior, rules))
    }

    /// Replaces all rules there that have the same effect.
    pub fn replace_rules(
        destination: UpdateDestination,
        behavior: PermissionBehavior,
        rules: impl IntoIterator<Item = PermissionRule>,
    ) -> Self {
        Self::ReplaceRules(RulesUpdate::new(destination, behavior, rules))
    }

    /// Without these rules.
    pub fn remove_rules(
        destination: UpdateDestination,
        behavior: PermissionBehavior,
        rules: impl IntoIterator<Item = PermissionRule>,
    ) -> Self {
        Self::RemoveRules(RulesUpdate::new(destination, behavior, rules))
    }

    /// Another mode.
    pub fn set_mode(destination: UpdateDestination, mode: PermissionMode) -> Self {
        Self::SetMode(ModeUpdate { mode, destination, extra: Extra::new() })
    }

    /// More working directories.
    pub fn add_directories(
        destination: UpdateDestination,
        directories: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self::AddDirectories(DirectoriesUpdate::new(destination, directories))
    }

    /// Fewer working directories.
    pub fn remove_directories(
        destination: UpdateDestination,
        directories: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self::RemoveDirectories(DirectoriesUpdate::new(destination, directories))
    }

    /// Destination of the change, if this version knows the change.
    pub fn destination(&self) -> Option<&UpdateDestination> {
        match self {
            Self::AddRules(update) | Self::ReplaceRules(update) | Self::RemoveRules(update) => {
                Some(&update.destination)
            }
            Self::SetMode(update) => Some(&update.destination),
            Self::AddDirectories(update) | Self::RemoveDirectories(update) => {
                Some(&update.destination)
            }
            Self::Unknown(_) => None,
        }
    }
}

/// Rules that come or go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RulesUpdate {
    /// The rules.
    pub rules: Vec<PermissionRule>,
    /// Their effect on the calls they match.
    pub behavior: PermissionBehavior,
    /// Destination of the change.
    pub destination: UpdateDestination,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl RulesUpdate {
    fn new(
        destination: UpdateDestination,
        behavior: PermissionBehavior,
        rules: impl IntoIterator<Item = PermissionRule>,
    ) -> Self {
        let rules = rules.into_iter().collect();
        Self { rules, behavior, destination, extra: Extra::new() }
    }
}

/// Another mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeUpdate {
    /// The mode from now on.
    pub mode: PermissionMode,
    /// Destination of the change.
    pub destination: UpdateDestination,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Working directories that come or go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectoriesUpdate {
    /// Their paths.
    pub directories: Vec<String>,
    /// Destination of the change.
    pub destination: UpdateDestination,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl DirectoriesUpdate {
    fn new(
        destination: UpdateDestination,
        directories: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let directories = directories.into_iter().map(Into::into).collect();
        Self { directories, destination, extra: Extra::new() }
    }
}

open_enum! {
    /// Destination of the change.
    UpdateDestination {
        /// The user's own settings file.
        UserSettings = "userSettings",
        /// The project's shared settings file.
        ProjectSettings = "projectSettings",
        /// The project's settings file that is not shared.
        LocalSettings = "localSettings",
        /// This session, in memory.
        Session = "session",
        /// As if given on the command line, in memory.
        CliArg = "cliArg",
    }
}
