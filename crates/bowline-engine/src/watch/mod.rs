//! File watcher: files that hooks name, and the settings.
//!
//! Nothing is watched, and no task runs, unless there are hooks for it. Settings are checked
//! before every turn as well, so that a change applies whether or not there are hooks for it.

mod files;
mod settings;
mod snapshot;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::Duration,
};

use bowline_protocol::{CwdChangedInput, EventInput, Extra, HookEvent};
use bowline_tools::Workspace;
use parking_lot::Mutex;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use self::{files::WatchedFiles, settings::SettingsFiles};
use crate::{
    config::SessionConfig,
    hook::HookReport,
    hooking::HookRunner,
    identity::Identity,
    settings::{SettingsPaths, SourceSet},
    state::{CurrentSettings, PendingChanges, Permissions},
};

/// The polling interval. Short enough for a user who waits for a hook, and polling
/// a few files costs microseconds.
const INTERVAL: Duration = Duration::from_millis(400);

/// Watches files for a session.
pub(crate) struct Watch {
    hooks: Arc<HookRunner>,
    workspace: Arc<Workspace>,
    settings: Arc<CurrentSettings>,
    permissions: Arc<Permissions>,
    pending: Arc<PendingChanges>,
    places: SettingsPaths,
    sources: SourceSet,
    cwd: PathBuf,
    /// Whether the session is unclaimed: then nothing is watched.
    unclaimed: bool,
    watched: Mutex<WatchedFiles>,
    settings_files: Mutex<SettingsFiles>,
    /// Held while changes of settings are applied.
    applying: tokio::sync::Mutex<()>,
    /// The polling task; only while there are hooks for it.
    looking: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl Watch {
    pub(crate) fn new(
        config: &SessionConfig,
        hooks: &Arc<HookRunner>,
        workspace: &Arc<Workspace>,
        settings: &Arc<CurrentSettings>,
        permissions: &Arc<Permissions>,
        pending: &Arc<PendingChanges>,
    ) -> Self {
        Self {
            hooks: Arc::clone(hooks),
            workspace: Arc::clone(workspace),
            settings: Arc::clone(settings),
            permissions: Arc::clone(permissions),
            pending: Arc::clone(pending),
            places: config.places.clone(),
            sources: config.sources,
            cwd: config.cwd.clone(),
            unclaimed: config.unclaimed,
            watched: Mutex::default(),
            settings_files: Mutex::default(),
            applying: tokio::sync::Mutex::default(),
            looking: Mutex::default(),
        }
    }

    /// Starts polling the files that hooks watch, unless it runs already.
    pub(crate) fn start(self: &Arc<Self>) {
        if self.unclaimed || !self.has_hooks() {
            return;
        }
        self.note_watched_files();
        let mut looking = self.looking.lock();
        if looking.is_none() {
            let task = tokio::spawn(look(Arc::downgrade(self)));
            *looking = Some(AbortOnDropHandle::new(task));
        }
    }

    /// Stops polling.
    pub(crate) fn stop(&self) {
        *self.looking.lock() = None;
    }

    /// Whether there are hooks for files that change.
    fn has_hooks(&self) -> bool {
        self.hooks.has(HookEvent::FileChanged) || self.hooks.has(HookEvent::ConfigChange)
    }

    /// Replaces the watched files by those that a hook's output names, if it names any.
    pub(crate) fn follow(&self, report: &HookReport) {
        if let Some(paths) = &report.watch_paths {
            self.watched.lock().follow(paths);
            self.note_watched_files();
        }
    }

    /// Runs the hooks of a change of the working directory.
    pub(crate) async fn directory_changed(
        &self,
        identity: &Identity,
        workspace: &Workspace,
        before: &Path,
        cancel: &CancellationToken,
    ) {
        let now = workspace.current_dir();
        if now != before && self.hooks.has(HookEvent::CwdChanged) {
            let event = EventInput::CwdChanged(CwdChangedInput {
                old_cwd: before.display().to_string(),
                new_cwd: now.display().to_string(),
                extra: Extra::new(),
            });
            let report = self.hooks.run(identity, event, cancel).await;
            self.follow(&report);
        }
    }
}

/// Polls watched files until the session ends.
async fn look(watch: Weak<Watch>) {
    let mut clock = tokio::time::interval(INTERVAL);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        clock.tick().await;
        let Some(watch) = watch.upgrade() else { return };
        if watch.hooks.has(HookEvent::ConfigChange) {
            watch.apply_settings_files().await;
        }
        if watch.hooks.has(HookEvent::FileChanged) {
            watch.run_changed_files_hooks().await;
        }
    }
}
