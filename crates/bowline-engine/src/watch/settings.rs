//! Settings files that somebody else changes: hooks may object, otherwise the change counts.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_protocol::{ConfigChangeInput, EventInput, Extra, HookEvent};
use tokio_util::sync::CancellationToken;

use super::snapshot::Stamp;
use crate::{
    identity::Identity,
    session::{Shared, lock},
    settings::{self, Source},
};

/// The settings files as they were when they were last read.
#[derive(Debug, Default)]
pub(super) struct SettingsFiles(BTreeMap<PathBuf, (Source, Option<Stamp>)>);

impl SettingsFiles {
    /// The files that are not as they were, with how they are now.
    fn changed(&self, files: Vec<(Source, PathBuf)>) -> Vec<(Source, PathBuf, Option<Stamp>)> {
        // One that only a policy can bring may no longer be among those there could be.
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

impl Shared {
    /// Remembers how the settings files are now: what they say is what counts.
    pub(crate) fn note_settings_files(&self) {
        let mut known = lock(&self.watch.settings);
        for (source, path) in settings::files(&self.config.places, self.config.sources) {
            let stamp = Stamp::of(&path);
            known.note(source, path, stamp);
        }
    }

    /// The same for a file that the session itself has written.
    pub(crate) fn note_settings_file(&self, path: &Path) {
        if let Some((_, stamp)) = lock(&self.watch.settings).0.get_mut(path) {
            *stamp = Stamp::of(path);
        }
    }

    /// Takes over what others have changed in settings files, unless hooks object.
    ///
    /// Cancel safety: what was not taken over when it is dropped is found the next time.
    pub(crate) async fn heed_settings_files(self: &Arc<Self>) {
        // Whoever comes second finds the change told and taken over.
        let _telling = self.watch.telling.lock().await;
        let files = settings::files(&self.config.places, self.config.sources);
        let changed = lock(&self.watch.settings).changed(files);
        for (source, path, stamp) in changed {
            let objected = self.settings_hooks_object(source, &path).await;
            lock(&self.watch.settings).note(source, path.clone(), stamp);
            // Whoever manages the machine is not asked back.
            if objected && source != Source::Policy {
                continue;
            }
            let before = self.settings().clone();
            let reread = self.settings().reread(source, &path);
            match reread {
                Ok(()) => self.follow_source(source, &before),
                Err(error) => tracing::warn!(%error, "a settings file is left as it was"),
            }
        }
    }

    async fn settings_hooks_object(&self, source: Source, path: &Path) -> bool {
        if !self.has_hooks(HookEvent::ConfigChange) {
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
        let report = self.run_hooks(&Identity::Main, event, &CancellationToken::new()).await;
        !report.blocks.is_empty() || report.stop.is_some()
    }
}
