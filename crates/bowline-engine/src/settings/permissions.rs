//! What each layer says about permissions, without what a project may not say.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Layer, Places, Settings, Source, Trust, variables::is_harmless};

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
    /// What was left out because the folder is not trusted, in words for the user.
    pub notices: Vec<String>,
    /// Whether only managed rules count, so that none may be added at run time either.
    pub managed_only: bool,
}

impl Settings {
    /// What the layers say about permissions, as far as the folder is trusted.
    ///
    /// A project nobody trusts may take away (deny, ask) but not give (allow, further folders).
    pub fn permissions(&self, places: &Places, trust: Trust) -> PermissionLayers {
        let managed_only = self.layers.iter().any(|layer| {
            layer.source == Source::Policy
                && layer.known.allow_managed_permission_rules_only == Some(true)
        });
        let mut found = PermissionLayers { managed_only, ..PermissionLayers::default() };
        for layer in &self.layers {
            let mut said = said_by(layer);
            if layer.source == Source::Project && trust == Trust::Untrusted {
                let allow = std::mem::take(&mut said.allow);
                let folders = std::mem::take(&mut said.additional_directories);
                let notice = |key, count| notice(places, layer.path.as_deref(), key, count);
                found.notices.extend(notice("permissions.allow", allow.len()));
                found.notices.extend(notice("permissions.additionalDirectories", folders.len()));
                let known = &layer.known;
                let variables = known.env.keys().filter(|name| !is_harmless(name)).count();
                found.notices.extend(notice("env", variables));
                let servers = layer.value.get("mcpServers").and_then(Value::as_object);
                found.notices.extend(notice("mcpServers", servers.map_or(0, |it| it.len())));
            }
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

fn notice(places: &Places, file: Option<&Path>, key: &str, count: usize) -> Option<String> {
    let entries = match count {
        0 => return None,
        1 => "entry",
        _ => "entries",
    };
    let file =
        file.map_or_else(|| "the project".into(), |file| places.shown(file).display().to_string());
    Some(format!(
        "Ignoring {count} {key} {entries} from {file}: this workspace has not been trusted. \
         To trust it, set projects[\"{}\"].hasTrustDialogAccepted: true in {}.",
        places.project.display(),
        places.global_state.display(),
    ))
}
