//! Settings, loaded from real files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

mod changes;
mod layers;
mod problems;
mod records;
mod trust;

use std::{fs, path::PathBuf};

use bowline_settings::{Settings, SettingsError, SettingsPaths, SettingsRequest, Trust};
use serde_json::Value;
use tempfile::TempDir;

/// Settings of a project that the user trusts.
pub(crate) fn trusted() -> SettingsRequest {
    SettingsRequest { trust: Trust::Trusted, ..SettingsRequest::default() }
}

/// A home, a project and a managed machine, all in one folder.
pub(crate) struct Machine(TempDir);

impl Machine {
    pub(crate) fn new() -> Self {
        let machine = Self(TempDir::new().unwrap());
        fs::create_dir(machine.path("project")).unwrap();
        machine
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn places(&self) -> SettingsPaths {
        SettingsPaths {
            managed_dir: self.path("managed"),
            ..SettingsPaths::new(self.path("config"), self.path("project"))
        }
    }

    pub(crate) fn write(&self, name: &str, text: impl ToString) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.to_string()).unwrap();
    }

    pub(crate) fn user(&self, settings: Value) {
        self.write("config/settings.json", settings);
    }

    pub(crate) fn project(&self, settings: Value) {
        self.write("project/.claude/settings.json", settings);
    }

    pub(crate) fn local(&self, settings: Value) {
        self.write("project/.claude/settings.local.json", settings);
    }

    pub(crate) fn managed(&self, settings: Value) {
        self.write("managed/managed-settings.json", settings);
    }

    pub(crate) fn load(&self) -> Settings {
        self.load_with(crate::trusted()).unwrap()
    }

    /// The settings of a project that is not trusted.
    pub(crate) fn load_doubted(&self) -> Settings {
        self.load_with(SettingsRequest::default()).unwrap()
    }

    pub(crate) fn load_with(&self, request: SettingsRequest) -> Result<Settings, SettingsError> {
        Settings::load(&self.places(), &request)
    }
}
