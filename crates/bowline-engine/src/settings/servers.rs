//! The MCP servers that settings name, and those of the project that settings do not object to.

use bowline_mcp::{NamedServer, Scope, ServerList, read_file, read_text};
use serde_json::json;

use super::{Layer, Places, Settings, Source, SourceSet, Trust};

impl Settings {
    /// The servers of the project's `.mcp.json` that settings do not object to, then those that
    /// settings name themselves, the ones that win first; and what is wrong with them, in words.
    ///
    /// A project that nobody trusts can say no to a server of its own, but not yes where others
    /// said no.
    pub fn servers(
        &self,
        places: &Places,
        sources: SourceSet,
        trust: Trust,
    ) -> (Vec<NamedServer>, Vec<String>) {
        let mut offered = match sources.project {
            true => project_servers(places),
            false => ServerList::default(),
        };
        self.retain_wanted(&mut offered.servers, trust);
        let mut found = offered.servers;
        let mut problems: Vec<_> = offered.problems.iter().map(ToString::to_string).collect();
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

    /// Leaves out what settings object to: by name, or all that none of them names.
    fn retain_wanted(&self, servers: &mut Vec<NamedServer>, trust: Trust) {
        let said = |layer: &Layer| layer.known.enable_all_project_mcp_servers;
        let wins = self.heard(trust).rev().find_map(said);
        let known = self.known();
        let all = wins != Some(false) && known.enable_all_project_mcp_servers != Some(false);
        servers.retain(|NamedServer { name, .. }| {
            let enables = |layer: &Layer| layer.known.enabled_mcpjson_servers.contains(name);
            (all || self.heard(trust).any(enables))
                && !known.disabled_mcpjson_servers.contains(name)
        });
    }

    /// The layers that have a say in what is run, lowest first.
    fn heard(&self, trust: Trust) -> impl DoubleEndedIterator<Item = &Layer> {
        let trusted = move |source| source != Source::Project || trust == Trust::Trusted;
        self.layers().iter().filter(move |layer| trusted(layer.source))
    }
}

/// The servers of the project's `.mcp.json`, and of those above it in the repository. Of two with one
/// name the nearer counts.
pub fn project_servers(places: &Places) -> ServerList {
    let mut found = ServerList::default();
    for folder in places.project_folders() {
        let ServerList { servers, problems } = read_file(&folder.join(".mcp.json"), Scope::Project);
        for server in servers {
            if !found.servers.iter().any(|nearer| nearer.name == server.name) {
                found.servers.push(server);
            }
        }
        found.problems.extend(problems);
    }
    found
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
