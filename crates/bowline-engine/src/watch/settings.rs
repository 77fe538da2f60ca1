//! Changed settings files: hooks may object, otherwise the change is applied.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_protocol::{ConfigChangeInput, EventInput, Extra, HookEvent};
use tokio_util::sync::CancellationToken;

use super::{Watch, snapshot::Stamp};
use crate::{
    identity::Identity,
    settings::{self, Settings, Source},
};

/// The settings files, with their stamps at the last read.
#[derive(Debug, Default)]
pub(super) struct SettingsFiles(BTreeMap<PathBuf, (Source, Option<Stamp>)>);

impl SettingsFiles {
    /// The files that have changed, with their new stamps.
    fn changed(&self, files: Vec<(Source, PathBuf)>) -> Vec<(Source, PathBuf, Option<Stamp>)> {
        // A policy may no longer name a file that it named before; that one is compared as well.
        let gone = self.0.iter().filter(|(path, _)| !files.iter().any(|(_, it)| it == *path));
        let gone: Vec<_> = gone.map(|(path, (source, _))| (*source, path.clone())).collect();
        let now = files.into_iter().chain(gone).map(|(source, path)| {
            let stamp = Stamp::of(&path);
            (source, path, stamp)
        });
        now.filter(|(_, path, stamp)| self.0.get(path).and_then(|(_, it)| *it) != *stamp).collect()
    }

    fn note(&mut self, source: Source, path: PathBuf, stamp: Option<Stamp>) {
        self.0.insert(path, (source, stamp));
    }
}

impl Watch {
    /// Records the current stamps: these settings have been applied.
    pub(crate) fn note_settings_files(&self) {
        let mut known = self.settings_files.lock();
        for (source, path) in settings::files(&self.places, self.sources) {
            let stamp = Stamp::of(&path);
            known.note(source, path, stamp);
        }
    }

    /// The same for a file that the session itself has written.
    pub(crate) fn note_settings_file(&self, path: &Path) {
        if let Some((_, stamp)) = self.settings_files.lock().0.get_mut(path) {
            *stamp = Stamp::of(path);
        }
    }

    /// Applies external changes of settings files, unless hooks object.
    ///
    /// Cancel safety: a change that was not applied when the future is dropped is found the next time.
    pub(crate) async fn apply_settings_files(self: &Arc<Self>) {
        // A second caller finds the change applied.
        let _applying = self.applying.lock().await;
        let files = settings::files(&self.places, self.sources);
        let changed = self.settings_files.lock().changed(files);
        for (source, path, stamp) in changed {
            let objected = self.settings_hooks_object(source, &path).await;
            self.settings_files.lock().note(source, path.clone(), stamp);
            // Managed settings cannot be refused.
            if objected && source != Source::Policy {
                continue;
            }
            let before = self.settings.get();
            let reread = self.settings.lock().reread(source, &path);
            match reread {
                Ok(()) => self.apply_source(source, &before),
                Err(error) => tracing::warn!(%error, "a settings file is left as it was"),
            }
        }
    }

    async fn settings_hooks_object(&self, source: Source, path: &Path) -> bool {
        if !self.hooks.has(HookEvent::ConfigChange) {
            return false;
        }
        let name = match source {
            Source::User => "user_settings",
            Source::Project => "project_settings",
            Source::Local => "local_settings",
            Source::Flag | Source::Policy => "policy_settings",
        };
        let event = EventInput::ConfigChange(ConfigChangeInput {
            source: name.to_owned(),
            file_path: Some(path.display().to_string()),
            extra: Extra::new(),
        });
        let report = self.hooks.run(&Identity::Main, event, &CancellationToken::new()).await;
        !report.blocks.is_empty() || report.stop.is_some()
    }

    /// Applies the settings of one source: hooks, rules and variables. The model and the
    /// like stay as they are, because other sessions write them to the same files.
    pub(crate) fn apply_source(self: &Arc<Self>, source: Source, before: &Settings) {
        let now = self.settings.get();
        self.hooks.registry().set_settings(&now);
        self.start();
        now.renew_rules(&mut self.permissions.policy(), source, &self.places);
        self.workspace.set_added_roots(self.permissions.added_directories());
        // A rule may remove a tool.
        self.pending.tools_changed();
        let changed = changed_variables(&variables(before), &variables(&now));
        self.workspace.update_environment(changed);
    }
}

/// The environment variables that settings set for commands.
fn variables(settings: &Settings) -> BTreeMap<String, String> {
    let set = settings.variables();
    set.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The variables to set, and those to remove.
fn changed_variables(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<(String, Option<String>)> {
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let gone = gone.map(|name| (name.clone(), None));
    let set = after.iter().filter(|(name, value)| before.get(*name) != Some(value));
    set.map(|(name, value)| (name.clone(), Some(value.clone()))).chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_come_change_and_go() {
        let of = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let changed = changed_variables(
            &of(&[("SAME", "1"), ("OTHER", "1"), ("GONE", "1")]),
            &of(&[("SAME", "1"), ("OTHER", "2"), ("NEW", "3")]),
        );
        let shown: Vec<_> = changed.iter().map(|(n, v)| (n.as_str(), v.as_deref())).collect();
        assert_eq!(shown, [("NEW", Some("3")), ("OTHER", Some("2")), ("GONE", None)]);
    }
}
