//! Current settings and plugins of a session.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::{plugin::Plugins, settings::Settings};

/// The settings of a session, which files and requests change.
#[derive(Debug)]
pub(crate) struct CurrentSettings(Mutex<Settings>);

impl CurrentSettings {
    pub(crate) fn new(settings: Settings) -> Self {
        Self(Mutex::new(settings))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Settings> {
        self.0.lock()
    }

    /// A copy of them.
    pub(crate) fn get(&self) -> Settings {
        self.lock().clone()
    }
}

/// The plugins of a session, as they were last read.
#[derive(Debug)]
pub(crate) struct CurrentPlugins(Mutex<Arc<Plugins>>);

impl CurrentPlugins {
    pub(crate) fn new(plugins: Plugins) -> Self {
        Self(Mutex::new(Arc::new(plugins)))
    }

    pub(crate) fn get(&self) -> Arc<Plugins> {
        Arc::clone(&self.0.lock())
    }

    /// Replaces them; returns the new ones.
    pub(crate) fn set(&self, plugins: Plugins) -> Arc<Plugins> {
        let plugins = Arc::new(plugins);
        *self.0.lock() = Arc::clone(&plugins);
        plugins
    }
}
