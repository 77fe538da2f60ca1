//! Permission settings of each layer.

use std::path::PathBuf;

use super::{Layer, Settings, Source};

/// The permission rules and folders of one layer, as texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayerPermissions {
    /// Calls that run.
    pub allow: Vec<String>,
    /// Calls that are asked about.
    pub ask: Vec<String>,
    /// Calls that are refused.
    pub deny: Vec<String>,
    /// Further folders to work in.
    pub additional_directories: Vec<String>,
}

/// The permissions of all layers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PermissionLayers {
    /// What counts, lowest precedence first, with the file each comes from.
    pub layers: Vec<(Source, Option<PathBuf>, LayerPermissions)>,
    /// Whether only managed rules count, so that none may be added at run time either.
    pub managed_only: bool,
}

impl Settings {
    /// What the layers say about permissions. What a project that is not trusted would allow was left out
    /// when they were read.
    pub fn permissions(&self) -> PermissionLayers {
        let managed_only = self.layers.iter().any(|layer| {
            layer.source == Source::Policy
                && layer.known.allow_managed_permission_rules_only == Some(true)
        });
        let mut found = PermissionLayers { managed_only, ..PermissionLayers::default() };
        for layer in &self.layers {
            let mut said = said_by(layer);
            if managed_only && layer.source != Source::Policy {
                let folders = said.additional_directories;
                said = LayerPermissions {
                    additional_directories: folders,
                    ..LayerPermissions::default()
                };
            }
            if said != LayerPermissions::default() {
                found.layers.push((layer.source, layer.path.clone(), said));
            }
        }
        found
    }
}

fn said_by(layer: &Layer) -> LayerPermissions {
    let permissions = &layer.known.permissions;
    LayerPermissions {
        allow: permissions.allow.clone(),
        ask: permissions.ask.clone(),
        deny: permissions.deny.clone(),
        additional_directories: permissions.additional_directories.clone(),
    }
}
