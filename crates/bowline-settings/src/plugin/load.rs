//! Loads one plugin: its manifest, its parts, its hooks and servers.

use std::{fs, path::Path};

use bowline_mcp::{Scope, expand, read_text};
use bowline_protocol::{HookSettings, McpServerConfig, PluginError};
use serde_json::{Value, json};

use super::{
    INLINE, Plugin, PluginRequest, PluginServers, Plugins,
    manifest::{Manifest, Paths, inside},
};

/// Reads the plugin that was asked for at `place`, and notes what is wrong with it.
pub(super) fn load(plugins: &mut Plugins, place: usize, request: &PluginRequest) {
    let root = &request.path;
    let refused = |kind: &str, message: String| PluginError {
        plugin: format!("{INLINE}[{place}]"),
        kind: kind.to_owned(),
        message,
        path: Some(root.display().to_string()),
        ..PluginError::default()
    };
    if !root.is_dir() {
        let message = format!("Path not found: {}", root.display());
        plugins.problems.push(refused("path-not-found", message));
        return;
    }
    let manifest = match Manifest::read(root) {
        Ok(manifest) => manifest,
        Err(why) => {
            let message = format!("Failed to load plugin: {why}");
            plugins.problems.push(refused("generic-error", message));
            return;
        }
    };
    let marketplace = request.marketplace.as_deref().unwrap_or(INLINE);
    let source = format!("{}@{marketplace}", manifest.name);
    if let Some(known) = plugins.loaded.iter().find(|known| known.name == manifest.name) {
        let message = format!("{} is loaded already, from {}", manifest.name, known.root.display());
        plugins.problems.push(refused("generic-error", message));
        return;
    }
    let plugin = Plugin {
        data: plugins.data_dir.join(format!("{}-{marketplace}", manifest.name)),
        name: manifest.name.clone(),
        version: manifest.version.clone(),
        root: root.clone(),
        source,
        commands: Vec::new(),
        skills: Vec::new(),
        agents: Vec::new(),
        styles: Vec::new(),
        hooks: HookSettings::new(),
        servers: Vec::new(),
    };
    let mut loading = Loading { plugin, plugins };
    loading.find_parts(&manifest);
    loading.read_hooks(&manifest.hooks);
    if request.servers == PluginServers::Used {
        loading.read_servers(&manifest.mcp_servers);
    }
    loading.finish();
}

/// A plugin whose parts are being gathered.
struct Loading<'a> {
    plugin: Plugin,
    plugins: &'a mut Plugins,
}

impl Loading<'_> {
    fn find_parts(&mut self, manifest: &Manifest) {
        self.plugin.commands = self.places("commands", "commands", manifest.commands.as_ref());
        self.plugin.skills = self.places("skills", "skills", manifest.skills.as_ref());
        self.plugin.agents = self.places("agents", "agents", manifest.agents.as_ref());
        self.plugin.styles =
            self.places("output-styles", "outputStyles", manifest.output_styles.as_ref());
    }

    /// Where parts of one kind are: in the usual folder, or where the manifest says.
    fn places(
        &mut self,
        folder: &str,
        key: &str,
        named: Option<&Paths>,
    ) -> Vec<std::path::PathBuf> {
        let usual = self.plugin.root.join(folder);
        let Some(named) = named else {
            return if usual.is_dir() { vec![usual] } else { Vec::new() };
        };
        let places: Vec<_> = named.iter().filter_map(|path| self.place(path)).collect();
        if usual.is_dir() && !places.contains(&usual) {
            let message =
                format!("Default {folder}/ folder is ignored because the manifest sets \"{key}\"");
            let warning = self.problem("folder-shadowed-by-manifest", message);
            self.plugins.warnings.push(warning);
        }
        places
    }

    /// A place that the manifest names, if there is something.
    fn place(&mut self, path: &str) -> Option<std::path::PathBuf> {
        let found = inside(&self.plugin.root, path).filter(|found| found.exists());
        if found.is_none() {
            let problem = self.problem("path-not-found", format!("Path not found: {path}"));
            self.plugins.problems.push(problem);
        }
        found
    }

    fn read_hooks(&mut self, named: &Value) {
        let usual = self.plugin.root.join("hooks/hooks.json");
        if usual.is_file() {
            self.read_hook_file(&usual);
        }
        self.each_part(named, Self::read_hook_file, Self::take_hooks);
    }

    fn read_hook_file(&mut self, path: &Path) {
        match read_json(path) {
            Ok(hooks) => self.take_hooks(&hooks),
            Err(why) => self.report("hook-load-failed", format!("Hook load failed: {why}")),
        }
    }

    fn take_hooks(&mut self, value: &Value) {
        let hooks = value.get("hooks").unwrap_or(value);
        match serde_json::from_value::<HookSettings>(hooks.clone()) {
            Ok(hooks) => {
                for (event, groups) in hooks {
                    self.plugin.hooks.entry(event).or_default().extend(groups);
                }
            }
            Err(error) => self.report("hook-load-failed", format!("Hook load failed: {error}")),
        }
    }

    fn read_servers(&mut self, named: &Value) {
        let usual = self.plugin.root.join(".mcp.json");
        if usual.is_file() {
            self.read_server_file(&usual);
        }
        self.each_part(named, Self::read_server_file, Self::take_servers);
    }

    fn read_server_file(&mut self, path: &Path) {
        match read_json(path) {
            Ok(servers) => self.take_servers(&servers),
            Err(why) => self.report("mcp-config-invalid", format!("MCP config invalid: {why}")),
        }
    }

    fn take_servers(&mut self, value: &Value) {
        let servers = value.get("mcpServers").unwrap_or(value);
        let text = json!({ "mcpServers": servers }).to_string();
        let list = read_text(&text, None, Scope::Plugin);
        for problem in list.problems {
            let message = format!("MCP config invalid: {}", problem.message);
            self.report("mcp-config-invalid", message);
        }
        for mut server in list.servers {
            let variables = self.plugin.variables();
            let value = |name: &str| {
                let known = variables.iter().find(|(known, _)| *known == name);
                known.map(|(_, path)| path.display().to_string())
            };
            // Other variables are the environment's, and are put in when the server is reached.
            expand(&mut server.config, &value);
            if let McpServerConfig::Stdio(program) = &mut server.config {
                let env = program.env.get_or_insert_default();
                for (name, path) in variables {
                    env.entry(name.to_owned()).or_insert_with(|| path.display().to_string());
                }
            }
            server.name = format!("plugin:{}:{}", self.plugin.name, server.name);
            self.plugin.servers.push(server);
        }
    }

    /// Goes through a key of the manifest that holds something, or the files it is in.
    fn each_part(
        &mut self,
        named: &Value,
        read_file: fn(&mut Self, &Path),
        take: fn(&mut Self, &Value),
    ) {
        match named {
            Value::String(path) => {
                if let Some(path) = self.place(path) {
                    read_file(self, &path);
                }
            }
            Value::Array(parts) => {
                for part in parts {
                    self.each_part(part, read_file, take);
                }
            }
            Value::Object(_) => take(self, named),
            _ => {}
        }
    }

    fn finish(self) {
        let plugin = self.plugin;
        if !plugin.hooks.is_empty() || !plugin.servers.is_empty() {
            // Its programs may rely on the folder. If there can be none, they will say so.
            bowline_private::folder(&plugin.data).ok();
        }
        self.plugins.loaded.push(plugin);
    }

    fn report(&mut self, kind: &str, message: String) {
        let problem = self.problem(kind, message);
        self.plugins.problems.push(problem);
    }

    fn problem(&self, kind: &str, message: String) -> PluginError {
        PluginError {
            plugin: self.plugin.source.clone(),
            kind: kind.to_owned(),
            message,
            ..PluginError::default()
        }
    }
}

fn read_json(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}
