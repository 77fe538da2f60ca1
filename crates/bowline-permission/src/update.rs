//! Changes to a policy during a session.

use std::path::Path;

use bowline_protocol::{PermissionUpdate, UpdateDestination};

use super::{location::Location, mode::ModeError, policy::Policy, source::RuleSource};

/// A change that outlives the session: [`write_settings`](super::write_settings) keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Persist {
    /// Which settings file it belongs to.
    pub destination: UpdateDestination,
    /// The change.
    pub update: PermissionUpdate,
}

impl Policy {
    /// Makes a change and returns what has to be written to which file. A change of a kind this version
    /// does not know changes nothing.
    pub fn apply(&mut self, update: &PermissionUpdate) -> Result<Option<Persist>, ModeError> {
        match update {
            PermissionUpdate::AddRules(change) => {
                let source = RuleSource::of(&change.destination);
                for rule in &change.rules {
                    self.rules.remove_rule(source, &change.behavior, rule);
                    self.rules.add_rule(source, &change.behavior, rule.clone());
                }
            }
            PermissionUpdate::ReplaceRules(change) => {
                let source = RuleSource::of(&change.destination);
                self.rules.clear(source, &change.behavior);
                for rule in &change.rules {
                    self.rules.add_rule(source, &change.behavior, rule.clone());
                }
            }
            PermissionUpdate::RemoveRules(change) => {
                let source = RuleSource::of(&change.destination);
                for rule in &change.rules {
                    self.rules.remove_rule(source, &change.behavior, rule);
                }
            }
            PermissionUpdate::SetMode(change) => self.set_mode(change.mode.clone())?,
            PermissionUpdate::AddDirectories(change) => {
                let source = RuleSource::of(&change.destination);
                for directory in &change.directories {
                    self.add_directory(source, Path::new(directory));
                }
            }
            PermissionUpdate::RemoveDirectories(change) => {
                for directory in &change.directories {
                    let gone = Location::of(&self.roots.current_directory.join(directory));
                    self.directories.retain(|(_, known)| *known != gone);
                }
            }
            _ => return Ok(None),
        }
        Ok(persistent(update))
    }
}

fn persistent(update: &PermissionUpdate) -> Option<Persist> {
    let destination = update.destination()?.clone();
    matches!(
        destination,
        UpdateDestination::UserSettings
            | UpdateDestination::ProjectSettings
            | UpdateDestination::LocalSettings
    )
    .then(|| Persist { destination, update: update.clone() })
}
