//! Files of `FileChanged` hooks: named by matchers, and by outputs of hooks.

use std::path::PathBuf;

use bowline_protocol::{EventInput, Extra, FileChangedInput, HookEvent};
use tokio_util::sync::CancellationToken;

use super::{Watch, snapshot::Snapshot};
use crate::identity::Identity;

/// The watched paths, and their last snapshot.
#[derive(Debug, Default)]
pub(super) struct WatchedFiles {
    /// Paths from the newest hook output, which replace those of earlier ones.
    asked_for: Vec<PathBuf>,
    watched: Vec<PathBuf>,
    last: Snapshot,
}

impl WatchedFiles {
    pub(super) fn follow(&mut self, paths: &[String]) {
        self.asked_for = paths.iter().map(PathBuf::from).collect();
    }
}

impl Watch {
    /// Takes a snapshot of paths that hooks name and that were not watched before.
    pub(super) fn note_watched_files(&self) {
        let names = self.hooks.registry().matcher_names(&HookEvent::FileChanged);
        let named = names.into_iter().map(|name| self.cwd.join(name));
        let mut files = self.watched.lock();
        let paths: Vec<_> = named.chain(files.asked_for.iter().cloned()).collect();
        let new: Vec<_> =
            paths.iter().filter(|path| !files.watched.contains(path)).cloned().collect();
        if !new.is_empty() {
            files.last.adopt(Snapshot::take(&self.workspace.current_dir(), &new));
        }
        files.watched = paths;
    }

    /// Compares watched files with the snapshot, and runs the hooks for changes.
    pub(super) async fn run_changed_files_hooks(&self) {
        self.note_watched_files();
        let (base, paths) = (self.workspace.current_dir(), self.watched.lock().watched.clone());
        let look = move || (Snapshot::take(&base, &paths), paths);
        let Ok((now, paths)) = tokio::task::spawn_blocking(look).await else { return };
        let changes = {
            let mut files = self.watched.lock();
            // The list has changed meanwhile; the next comparison covers it.
            if files.watched != paths {
                return;
            }
            let mut changes = now.changes_since(&files.last);
            files.last = now;
            // A file that is no longer watched is not reported as removed.
            changes.retain(|(path, _)| files.watched.iter().any(|it| path.starts_with(it)));
            changes
        };
        for (path, change) in changes {
            let event = EventInput::FileChanged(FileChangedInput {
                file_path: path.display().to_string(),
                event: change.as_str().to_owned(),
                extra: Extra::new(),
            });
            let report = self.hooks.run(&Identity::Main, event, &CancellationToken::new()).await;
            self.follow(&report);
        }
    }
}
