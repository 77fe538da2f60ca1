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
    agent::Identity,
    session::{Shared, lock},
    settings::{self, Source},
};

/// The settings files as they were when they were last read.
#[derive(Debug, Default)]
pub(super) struct SettingsFiles(BTreeMap<PathBuf, (Source, Option<Stamp>)>);

impl SettingsFiles {
    /// Takes over how files are now; returns those that have changed.
    fn renew(&mut self, files: Vec<(Source, PathBuf)>) -> Vec<(Source, PathBuf)> {
        let stamped = files.into_iter().map(|(source, path)| {
            let stamp = Stamp::of(&path);
            (path, (source, stamp))
        });
        let now: BTreeMap<_, _> = stamped.collect();
        let stamp_in = |all: &BTreeMap<PathBuf, (Source, Option<Stamp>)>, path: &Path| {
            all.get(path).and_then(|(_, stamp)| *stamp)
        };
        let before = std::mem::replace(&mut self.0, now);
        // Files that only policies can bring are not always among those there are.
        let all =
            before.iter().chain(self.0.iter().filter(|(path, _)| !before.contains_key(*path)));
        all.filter(|(path, _)| stamp_in(&before, path) != stamp_in(&self.0, path))
            .map(|(path, (source, _))| (*source, path.clone()))
            .collect()
    }
}

impl Shared {
    /// Remembers how the settings files are now: what they say is what counts.
    pub(crate) fn note_settings_files(&self) {
        let files = settings::files(&self.config.places, self.config.sources);
        lock(&self.watch.settings).renew(files);
    }

    /// The same for a file that the session itself has written.
    pub(crate) fn note_settings_file(&self, path: &Path) {
        if let Some((_, stamp)) = lock(&self.watch.settings).0.get_mut(path) {
            *stamp = Stamp::of(path);
        }
    }

    /// Takes over what others have changed in settings files, unless hooks object.
    pub(crate) async fn heed_settings_files(self: &Arc<Self>) {
        // Whoever comes second finds the change told and taken over.
        let _telling = self.watch.telling.lock().await;
        let files = settings::files(&self.config.places, self.config.sources);
        let changed = lock(&self.watch.settings).renew(files);
        for (source, path) in changed {
            // Whoever manages the machine is not asked back.
            if self.settings_hooks_object(source, &path).await && source != Source::Policy {
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
