//! Permission policy that follows from the settings.

use std::path::{Path, PathBuf};

use bowline_protocol::{PermissionBehavior, PermissionMode};

use super::{LayerPermissions, Settings, SettingsPaths, Source};
use bowline_permission::{Policy, Roots, RuleSource};

impl Settings {
    /// The rules and folders of the settings as a policy.
    pub fn policy(&self, places: &SettingsPaths, roots: Roots) -> Policy {
        let mut policy = Policy::new(roots);
        policy.variables = self.variables().map(|(name, _)| name.clone()).collect();
        let known = &self.known().permissions;
        policy.blocks_reads_outside = known.block_reads_outside_working_directories == Some(true);
        policy.blocks_writes_outside = known.block_writes_outside_working_directories == Some(true);
        let said = self.permissions();
        policy.rules.set_managed_only(said.managed_only);
        for (source, path, rules) in said.layers {
            add_layer(&mut policy, source, path.as_deref(), &rules, places);
        }
        policy
    }

    /// Puts the rules that one source has now in the place of those it had, and adds its folders.
    pub fn renew_rules(&self, policy: &mut Policy, source: Source, places: &SettingsPaths) {
        let said = self.permissions();
        policy.rules.set_managed_only(said.managed_only);
        policy.rules.clear_source(rule_source(source));
        for (_, path, rules) in said.layers.iter().filter(|(of, ..)| *of == source) {
            add_layer(policy, source, path.as_deref(), rules, places);
        }
    }

    /// The mode that a session starts in unless a flag names another.
    ///
    /// That of a project which is not trusted applies unless it would take the place of a stricter one.
    pub fn start_mode(&self) -> PermissionMode {
        use PermissionMode::{DontAsk, Plan};
        let mut chosen = PermissionMode::Default;
        for layer in self.layers() {
            let Some(mode) = &layer.known.permissions.default_mode else { continue };
            if !(self.is_untrusted(layer) && matches!(chosen, DontAsk | Plan)) {
                chosen = mode.clone();
            }
        }
        chosen
    }

    /// Whether the settings forbid to do without permissions.
    pub fn forbids_bypass(&self) -> bool {
        self.known().permissions.disable_bypass_permissions_mode.as_deref() == Some("disable")
    }
}

fn add_layer(
    policy: &mut Policy,
    source: Source,
    path: Option<&Path>,
    said: &LayerPermissions,
    places: &SettingsPaths,
) {
    let source = rule_source(source);
    policy.rules.set_settings_root(source, rule_root(source, path, places));
    for (behavior, rules) in [
        (PermissionBehavior::Allow, &said.allow),
        (PermissionBehavior::Ask, &said.ask),
        (PermissionBehavior::Deny, &said.deny),
    ] {
        policy.rules.add_all(source, &behavior, rules);
    }
    for folder in &said.additional_directories {
        let folder = expand_home(folder, policy.home());
        policy.add_directory(source, &folder);
    }
}

fn rule_source(source: Source) -> RuleSource {
    match source {
        Source::User => RuleSource::User,
        Source::Project => RuleSource::Project,
        Source::Local => RuleSource::Local,
        Source::Flag => RuleSource::Flag,
        Source::Policy => RuleSource::Policy,
    }
}

/// What `/path` means in a rule: the project in its own files, elsewhere the folder of the file.
fn rule_root(source: RuleSource, file: Option<&Path>, places: &SettingsPaths) -> PathBuf {
    match source {
        RuleSource::Project | RuleSource::Local => places.project.clone(),
        _ => file.and_then(Path::parent).unwrap_or(Path::new("/")).to_owned(),
    }
}

/// A folder as it was written, `~` in front meaning the user's.
pub fn expand_home(folder: &str, home: Option<&Path>) -> PathBuf {
    match (folder.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(folder),
    }
}
