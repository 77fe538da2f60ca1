//! Plugins: folders that bring commands, skills, agents, output styles, hooks and MCP servers.
//!
//! ```text
//! harbor/
//!   .claude-plugin/plugin.json   its name, version and, if they lie elsewhere, its parts
//!   commands/dock.md             the command /harbor:dock
//!   skills/knots/SKILL.md        the skill harbor:knots
//!   agents/pilot.md              the agent harbor:pilot
//!   output-styles/terse.md       the style harbor:terse
//!   hooks/hooks.json             hooks, as settings have them
//!   .mcp.json                    MCP servers: `tide` is plugin:harbor:tide
//! ```
//!
//! Whatever a plugin brings has the plugin's name before its own. This module finds the parts; what
//! they mean is known where their like from the project and the user are read.

mod installed;
mod load;
mod manifest;

use std::path::{Path, PathBuf};

use bowline_mcp::NamedServer;
use bowline_protocol::{HookSettings, InitPlugin, PluginError, PluginSource};

use self::installed::installed;
use crate::{KnownSettings, SettingsPaths};

/// The variable that stands for a plugin's folder in its files.
const ROOT: &str = "CLAUDE_PLUGIN_ROOT";
/// The variable that stands for the folder where a plugin may keep things.
const DATA: &str = "CLAUDE_PLUGIN_DATA";
/// Where plugins come from that were named by their folder.
const INLINE: &str = "inline";

/// A plugin that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginRequest {
    /// Its folder.
    pub path: PathBuf,
    /// Whether its MCP servers are used.
    pub servers: PluginServers,
    /// The marketplace it was installed from; `None` if it was named by its folder.
    pub marketplace: Option<String>,
}

/// Whether the MCP servers of a plugin are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PluginServers {
    /// They are.
    #[default]
    Used,
    /// They are left alone.
    LeftAlone,
}

impl PluginRequest {
    /// A plugin in a folder.
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), servers: PluginServers::Used, marketplace: None }
    }

    /// The same without its MCP servers.
    #[must_use]
    pub fn without_servers(mut self) -> Self {
        self.servers = PluginServers::LeftAlone;
        self
    }

    /// A plugin that a host names.
    pub fn of_host(source: &PluginSource, cwd: &Path) -> Self {
        let request = Self::folder(cwd.join(&source.path));
        match source.skip_mcp_discovery {
            Some(true) => request.without_servers(),
            _ => request,
        }
    }
}

/// The plugins of a session: those that were loaded, and what is wrong with the others.
#[derive(Debug, Clone, Default)]
pub struct Plugins {
    requests: Vec<PluginRequest>,
    /// Plugins that are wanted and nowhere.
    missing: Vec<PluginError>,
    data_dir: PathBuf,
    loaded: Vec<Plugin>,
    /// What keeps plugins, or parts of them, from being used.
    pub problems: Vec<PluginError>,
    /// Findings that may surprise the authors of the plugins.
    pub warnings: Vec<PluginError>,
}

/// A plugin that was loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Plugin {
    /// Its name, which stands before the names of everything it brings.
    pub name: String,
    /// Its version, if it says.
    pub version: Option<String>,
    /// Its folder.
    pub root: PathBuf,
    /// Its name and where it comes from, as in `harbor@inline`.
    pub source: String,
    /// Where it may keep things.
    data: PathBuf,
    /// Files and folders with commands.
    pub commands: Vec<PathBuf>,
    /// Folders of skills, or folders with such folders.
    pub skills: Vec<PathBuf>,
    /// Files and folders with agents.
    pub agents: Vec<PathBuf>,
    /// Files and folders with output styles.
    pub styles: Vec<PathBuf>,
    /// Its hooks, in the form that settings files have.
    pub hooks: HookSettings,
    /// Its MCP servers, under their qualified names.
    pub servers: Vec<NamedServer>,
}

impl Plugins {
    /// Reads the plugins in these folders, and those that the settings switch on.
    pub fn load(
        folders: Vec<PluginRequest>,
        known: &KnownSettings,
        places: &SettingsPaths,
    ) -> Self {
        let (installed, missing) = installed(known, places);
        let requests = folders.into_iter().chain(installed).collect();
        let data_dir = places.config_dir.join("plugins/data");
        Self { requests, missing, data_dir, ..Self::default() }.reloaded()
    }

    /// The plugins there are, in the order in which they were asked for.
    pub fn loaded(&self) -> &[Plugin] {
        &self.loaded
    }

    /// The MCP servers they bring.
    pub fn servers(&self) -> impl Iterator<Item = &NamedServer> {
        self.loaded.iter().flat_map(|plugin| &plugin.servers)
    }

    /// The same plugins as they are on disk now.
    #[must_use]
    pub fn reloaded(&self) -> Self {
        let mut plugins = Self {
            requests: self.requests.clone(),
            missing: self.missing.clone(),
            data_dir: self.data_dir.clone(),
            problems: self.missing.clone(),
            ..Self::default()
        };
        for (place, request) in self.requests.iter().enumerate() {
            load::load(&mut plugins, place, request);
        }
        plugins
    }

    /// These plugins and more, all as they are on disk now.
    #[must_use]
    pub fn with(&self, more: impl IntoIterator<Item = PluginRequest>) -> Self {
        let mut plugins = self.clone();
        for request in more {
            if !plugins.requests.iter().any(|known| known.path == request.path) {
                plugins.requests.push(request);
            }
        }
        plugins.reloaded()
    }

    /// What a host is told about them.
    pub fn infos(&self) -> Vec<InitPlugin> {
        let info = |plugin: &Plugin| InitPlugin {
            name: plugin.name.clone(),
            path: plugin.root.display().to_string(),
            version: plugin.version.clone(),
            source: Some(plugin.source.clone()),
            ..InitPlugin::default()
        };
        self.loaded.iter().map(info).collect()
    }
}

impl Plugin {
    /// The name that something of the plugin has outside of it.
    pub fn qualify(&self, name: &str) -> String {
        format!("{}:{name}", self.name)
    }

    /// Puts the plugin's folders where a text of its has variables for them.
    pub fn expand(&self, text: &str) -> String {
        self.variables().iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("${{{name}}}"), &value.display().to_string())
        })
    }

    /// What its programs find in their environment.
    pub fn variables(&self) -> [(&'static str, &Path); 2] {
        [(ROOT, &self.root), (DATA, &self.data)]
    }
}
