//! Files that somebody else changes: those that hooks want to hear of, and the settings.
//!
//! Nothing is watched, and no task runs, unless there are hooks for it. Settings are looked at
//! before every turn as well, so that a change counts whether or not hooks hear of it.

mod files;
mod settings;
mod snapshot;

use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use bowline_protocol::HookEvent;
use tokio_util::task::AbortOnDropHandle;

use self::{files::WatchedFiles, settings::SettingsFiles};
use crate::{
    hook::HookReport,
    session::{Shared, lock},
};

/// How often watched files are looked at. Short enough for a person who waits for a hook, and a look
/// at a few files costs microseconds.
const INTERVAL: Duration = Duration::from_millis(400);

/// What a session watches.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    files: Mutex<WatchedFiles>,
    settings: Mutex<SettingsFiles>,
    /// Held while changes of settings are being told and taken over.
    telling: tokio::sync::Mutex<()>,
    /// The task that looks; only while there is somebody to tell.
    looking: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl Watch {
    /// Stops looking.
    pub(crate) fn stop(&self) {
        *lock(&self.looking) = None;
    }
}

impl Shared {
    /// Begins to look at what hooks want watched, if that is not being done yet.
    pub(crate) fn watch(self: &Arc<Self>) {
        if self.config.unclaimed || !self.is_watching() {
            return;
        }
        self.note_watched_files();
        let mut looking = lock(&self.watch.looking);
        if looking.is_none() {
            let task = tokio::spawn(look(Arc::downgrade(self)));
            *looking = Some(AbortOnDropHandle::new(task));
        }
    }

    /// Whether any hook wants to hear of files that change.
    fn is_watching(&self) -> bool {
        self.has_hooks(HookEvent::FileChanged) || self.has_hooks(HookEvent::ConfigChange)
    }

    /// Takes over which files hooks want watched from now on, if they say.
    pub(crate) fn heed_watch_paths(&self, report: &HookReport) {
        if let Some(paths) = &report.watch_paths {
            lock(&self.watch.files).follow(paths);
            self.note_watched_files();
        }
    }
}

/// Looks at watched files until the session ends.
async fn look(session: Weak<Shared>) {
    let mut clock = tokio::time::interval(INTERVAL);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        clock.tick().await;
        let Some(session) = session.upgrade() else { return };
        if session.has_hooks(HookEvent::ConfigChange) {
            session.heed_settings_files().await;
        }
        if session.has_hooks(HookEvent::FileChanged) {
            session.tell_changed_files().await;
        }
    }
}
