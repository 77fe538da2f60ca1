//! Files that `FileChanged` hooks hear of: those that matchers name, and those that hooks have asked for.

use std::path::PathBuf;

use bowline_protocol::{EventInput, Extra, FileChangedInput, HookEvent};
use tokio_util::sync::CancellationToken;

use super::snapshot::Snapshot;
use crate::{
    identity::Identity,
    session::{Shared, lock},
};

/// What is watched, and how it was when it was last looked at.
#[derive(Debug, Default)]
pub(super) struct WatchedFiles {
    /// What hooks have asked for, in place of what they asked for before.
    asked_for: Vec<PathBuf>,
    watched: Vec<PathBuf>,
    last: Snapshot,
}

impl WatchedFiles {
    pub(super) fn follow(&mut self, paths: &[String]) {
        self.asked_for = paths.iter().map(PathBuf::from).collect();
    }
}

impl Shared {
    /// Begins to watch what hooks want watched and was not watched so far, as it is now.
    pub(super) fn note_watched_files(&self) {
        let names = self.hooks.matcher_names(&HookEvent::FileChanged);
        let named = names.into_iter().map(|name| self.config.cwd.join(name));
        let mut files = lock(&self.watch.files);
        let paths: Vec<_> = named.chain(files.asked_for.iter().cloned()).collect();
        let new: Vec<_> =
            paths.iter().filter(|path| !files.watched.contains(path)).cloned().collect();
        if !new.is_empty() {
            files.last.adopt(Snapshot::take(&self.workspace.current_dir(), &new));
        }
        files.watched = paths;
    }

    /// Looks at watched files and tells hooks what has changed.
    pub(super) async fn tell_changed_files(&self) {
        self.note_watched_files();
        let (base, paths) = (self.workspace.current_dir(), lock(&self.watch.files).watched.clone());
        let look = move || (Snapshot::take(&base, &paths), paths);
        let Ok((now, paths)) = tokio::task::spawn_blocking(look).await else { return };
        let changes = {
            let mut files = lock(&self.watch.files);
            // Somebody has changed what is watched meanwhile; the next look sees all of it.
            if files.watched != paths {
                return;
            }
            let mut changes = now.changes_since(&files.last);
            files.last = now;
            // What is no longer watched has not gone.
            changes.retain(|(path, _)| files.watched.iter().any(|it| path.starts_with(it)));
            changes
        };
        for (path, change) in changes {
            let event = EventInput::FileChanged(FileChangedInput {
                file_path: path.display().to_string(),
                event: change.as_str().to_owned(),
                extra: Extra::new(),
            });
            let report = self.run_hooks(&Identity::Main, event, &CancellationToken::new()).await;
            self.heed_watch_paths(&report);
        }
    }
}
