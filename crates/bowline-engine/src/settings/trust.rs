//! Whether the user trusts the folder a session runs in.

use std::{collections::HashMap, fs, path::Path};

use serde::Deserialize;

use super::{Places, Settings, Source};

/// Whether what a project's own settings allow may count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The user has said so for this folder or one above it.
    Trusted,
    /// Nobody has said so.
    Untrusted,
}

impl Trust {
    /// Looks the project's folder up in the global state. No state, or a broken one, trusts nothing.
    pub fn read(places: &Places) -> Self {
        #[derive(Deserialize)]
        struct State {
            #[serde(default)]
            projects: HashMap<String, Project>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Project {
            #[serde(default)]
            has_trust_dialog_accepted: bool,
        }

        let Ok(text) = fs::read_to_string(&places.global_state) else { return Self::Untrusted };
        let Ok(state) = serde_json::from_str::<State>(&text) else { return Self::Untrusted };
        let accepted = |folder: &Path| {
            let project = folder.to_str().and_then(|folder| state.projects.get(folder));
            project.is_some_and(|project| project.has_trust_dialog_accepted)
        };
        match places.project.ancestors().any(accepted) {
            true => Self::Trusted,
            false => Self::Untrusted,
        }
    }
}

impl Settings {
    /// Whether WebFetch may reach this machine and private networks. The project's own settings
    /// have no say in that unless the user trusts it.
    pub fn allows_private_addresses(&self, trust: Trust) -> bool {
        let heard = |source| source != Source::Project || trust == Trust::Trusted;
        let layers = self.layers().iter().filter(|layer| heard(layer.source));
        layers
            .filter_map(|layer| layer.known.bowline.allow_private_addresses)
            .next_back()
            .unwrap_or(false)
    }
}
