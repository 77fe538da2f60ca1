//! Attacks by a project that is not trusted, each beside the same files in one that is.

mod agents;
mod commands;
mod hooks;
mod instructions;

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use bowline_engine::{
    permission::Roots,
    plugin::Plugins,
    settings::{Settings, SettingsPaths, SettingsRequest, Trust},
};
use serde_json::Value;
use tempfile::TempDir;

use crate::{context::write, request_log::RequestLog, rig::Rig};

/// A clone in `work`, the user's configuration in `home`, and other files beside them.
pub(crate) struct Clone {
    folder: TempDir,
    log: RequestLog,
}

/// A session in a clone, and its request log.
pub(crate) struct Opened {
    rig: Rig,
    log: RequestLog,
    root: PathBuf,
    /// The line for the user.
    line: Option<String>,
}

impl Clone {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "work/.git"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        for (name, text) in files {
            write(folder.path(), name, text);
        }
        Self { folder, log: RequestLog::default() }
    }

    /// The same with links, by name and target.
    pub(crate) fn linked(self, links: &[(&str, &str)]) -> Self {
        for (name, target) in links {
            let link = self.folder.path().join(name);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(target, link).unwrap();
        }
        self
    }

    /// Opens a session as the program does.
    pub(crate) fn open(self, trust: Trust) -> Opened {
        self.open_in("work", trust)
    }

    /// The same in a folder of the clone.
    pub(crate) fn open_in(self, folder: &str, trust: Trust) -> Opened {
        let root = self.folder.path().canonicalize().unwrap();
        let (cwd, log) = (root.join(folder), self.log);
        let mut line = None;
        let rig = Rig::in_folder(self.folder, |config| {
            log.record(config);
            config.places = SettingsPaths {
                managed_dir: root.join("managed"),
                ..SettingsPaths::new(root.join("home"), &cwd)
            };
            config.cwd = cwd;
            let request = SettingsRequest { trust, ..SettingsRequest::default() };
            config.settings = Settings::load(&config.places, &request).unwrap();
            config.trust = trust;
            config.plugins = Plugins::load(Vec::new(), config.settings.known(), &config.places);
            config.policy = config.settings.policy(
                &config.places,
                Roots { current_directory: config.cwd.clone(), home: None },
            );
            config.add_servers_of_settings();
            line = config.survey();
        });
        Opened { rig, log, root, line }
    }
}

impl Opened {
    /// Whether a prompt leads to a permission request.
    async fn asks(&mut self, prompt: &str) -> bool {
        let frames = self.rig.run(prompt).await;
        frames.iter().any(|frame| frame["type"] == "can_use_tool")
    }

    /// The text of the last model request, the system prompt first.
    fn request_text(&self) -> String {
        self.log.system().into_iter().chain(self.log.conversation()).collect::<Vec<_>>().join("\n")
    }

    fn line(&self) -> &str {
        self.line.as_deref().unwrap_or_default()
    }
}

/// A document with a head of fields.
fn headed(head: &str, body: &str) -> String {
    format!("---\n{head}\n---\n{body}")
}

/// The names in a list of a response.
fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}
