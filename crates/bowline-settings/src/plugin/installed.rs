//! Plugins installed from a marketplace and enabled by `enabledPlugins`.
//!
//! Installing is not done here. What another program has installed is written down in
//! `plugins/installed_plugins.json` of the configuration folder.

use std::{collections::BTreeMap, path::PathBuf};

use bowline_protocol::PluginError;
use serde::Deserialize;

use super::{PluginRequest, PluginServers};
use crate::{KnownSettings, SettingsPaths};

/// What is installed, by `name@marketplace`.
#[derive(Debug, Default, Deserialize)]
struct Installed {
    #[serde(default)]
    plugins: BTreeMap<String, Copies>,
}

/// Where a plugin is; once for everybody, or once for each user and project that wants it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Copies {
    One(Copy),
    Many(Vec<Copy>),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Copy {
    install_path: PathBuf,
    /// The project that it was installed for, if it was for one.
    project_path: Option<PathBuf>,
}

/// The installed plugins that the settings switch on, and those of them that are not there.
pub(super) fn installed(
    known: &KnownSettings,
    places: &SettingsPaths,
) -> (Vec<PluginRequest>, Vec<PluginError>) {
    let wanted = known.enabled_plugins.iter().filter(|(_, enabled)| **enabled);
    let wanted: Vec<_> = wanted.map(|(id, _)| id.as_str()).collect();
    if wanted.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let file = places.config_dir.join("plugins/installed_plugins.json");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let installed: Installed = serde_json::from_str(&text).unwrap_or_default();
    let mut requests = Vec::new();
    let mut missing = Vec::new();
    for id in wanted {
        match installed.plugins.get(id).and_then(|copies| copies.for_project(places)) {
            Some(path) => requests.push(PluginRequest {
                path,
                servers: PluginServers::Used,
                marketplace: id.split_once('@').map(|(_, marketplace)| marketplace.to_owned()),
            }),
            None => missing.push(PluginError {
                plugin: id.to_owned(),
                kind: "plugin-not-found".to_owned(),
                message: format!("{id} is enabled in settings, but not installed"),
                ..PluginError::default()
            }),
        }
    }
    (requests, missing)
}

impl Copies {
    fn for_project(&self, places: &SettingsPaths) -> Option<PathBuf> {
        let copies = match self {
            Self::One(copy) => std::slice::from_ref(copy),
            Self::Many(copies) => copies,
        };
        let fits =
            |copy: &&Copy| copy.project_path.as_ref().is_none_or(|path| *path == places.project);
        copies.iter().find(fits).map(|copy| copy.install_path.clone())
    }
}
