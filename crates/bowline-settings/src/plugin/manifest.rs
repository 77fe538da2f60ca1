//! `plugin.json`: who a plugin is, and where its parts are if not in the usual places.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// Where a plugin says who it is.
const FILE: &str = ".claude-plugin/plugin.json";

/// What `plugin.json` says.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) version: Option<String>,
    #[serde(default)]
    pub(super) commands: Option<Paths>,
    #[serde(default)]
    pub(super) skills: Option<Paths>,
    #[serde(default)]
    pub(super) agents: Option<Paths>,
    #[serde(default)]
    pub(super) output_styles: Option<Paths>,
    /// Hooks, or the files they are in.
    #[serde(default)]
    pub(super) hooks: Value,
    /// MCP servers, or the files they are in.
    #[serde(default)]
    pub(super) mcp_servers: Value,
}

/// One path or several, relative to the plugin's folder.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a path or a list of paths")]
pub(super) enum Paths {
    One(String),
    Many(Vec<String>),
}

impl Paths {
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::One(path) => std::slice::from_ref(path),
            Self::Many(paths) => paths,
        }
        .iter()
        .map(String::as_str)
    }
}

impl Manifest {
    /// Reads the manifest of a plugin. One that has none is called as its folder is.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let path = root.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let name = root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                return Ok(Self { name: name.to_owned(), ..Self::default() });
            }
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let manifest: Self = serde_json::from_str(&text)
            .map_err(|error| format!("corrupt manifest file at {}: {error}", path.display()))?;
        match manifest.name.is_empty() || manifest.name.contains([':', '/', ' ']) {
            true => Err(format!("{}: `{}` is no name for a plugin", path.display(), manifest.name)),
            false => Ok(manifest),
        }
    }
}

/// A path inside the plugin's folder; `None` for one that leads out of it.
pub(super) fn inside(root: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let stays = |part: Component<'_>| matches!(part, Component::CurDir | Component::Normal(_));
    path.components().all(stays).then(|| root.join(path.strip_prefix(".").unwrap_or(path)))
}
