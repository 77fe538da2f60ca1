//! The MCP servers that settings name, and those of the project that settings approve of.

use std::path::Path;

use bowline_mcp::{NamedServer, Scope, ServerList, read_file, read_text};
use serde_json::json;

use super::{Layer, Settings, Source, Trust};

impl Settings {
    /// The servers of the `.mcp.json` in `folder` that settings approve of, then those that settings
    /// name themselves, the ones that win first; and what is wrong with the latter, in words.
    ///
    /// Servers are programs that are run, so a project that nobody trusts can only say no.
    pub fn servers(&self, folder: &Path, trust: Trust) -> (Vec<NamedServer>, Vec<String>) {
        let mut found = self.approved(folder, trust);
        let mut problems = Vec::new();
        for layer in self.heard(trust).rev() {
            let Some(named) = layer.value.get("mcpServers") else { continue };
            let document = json!({ "mcpServers": named }).to_string();
            let list = read_text(&document, layer.path.as_deref(), scope(layer.source));
            found.extend(list.servers);
            // Places are those in the piece that was read, not in the file.
            problems.extend(list.problems.iter().map(|problem| match &problem.path {
                Some(path) => format!("{}: {}", path.display(), problem.message),
                None => problem.message.clone(),
            }));
        }
        (found, problems)
    }

    fn approved(&self, folder: &Path, trust: Trust) -> Vec<NamedServer> {
        let said = |layer: &Layer| layer.known.enable_all_project_mcp_servers;
        let wins = self.heard(trust).rev().find_map(said);
        let known = self.known();
        let all = wins == Some(true) && known.enable_all_project_mcp_servers == Some(true);
        let mut servers = project_servers(folder).servers;
        servers.retain(|NamedServer { name, .. }| {
            let enables = |layer: &Layer| layer.known.enabled_mcpjson_servers.contains(name);
            (all || self.heard(trust).any(enables))
                && !known.disabled_mcpjson_servers.contains(name)
        });
        servers
    }

    /// The layers that have a say in what is run, lowest first.
    fn heard(&self, trust: Trust) -> impl DoubleEndedIterator<Item = &Layer> {
        let trusted = move |source| source != Source::Project || trust == Trust::Trusted;
        self.layers().iter().filter(move |layer| trusted(layer.source))
    }
}

/// The servers of the project's `.mcp.json`.
pub fn project_servers(project: &Path) -> ServerList {
    read_file(&project.join(".mcp.json"), Scope::Project)
}

fn scope(source: Source) -> Scope {
    match source {
        Source::Project => Scope::Project,
        Source::User => Scope::User,
        Source::Local => Scope::Local,
        Source::Flag => Scope::Dynamic,
        Source::Policy => Scope::Managed,
    }
}
