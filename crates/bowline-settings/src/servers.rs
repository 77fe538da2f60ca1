//! MCP servers of settings, and those of the project that settings do not disable.

use bowline_mcp::{NamedServer, Scope, ServerList, read_file, read_text};
use serde_json::json;

use super::{
    Layer, Part, ProjectTrust, Settings, SettingsPaths, SkippedParts, Source, SourceSet, Trust,
};

impl Settings {
    /// The servers of the project's `.mcp.json` that settings do not object to, then those that
    /// settings name themselves, the ones that win first; and what is wrong with them, in words.
    ///
    /// A project that is not trusted starts none, and what its settings name was left out when they
    /// were read.
    pub fn servers(
        &self,
        places: &SettingsPaths,
        sources: SourceSet,
        trust: Trust,
    ) -> (Vec<NamedServer>, Vec<String>) {
        let mut offered = match sources.project && trust == Trust::Trusted {
            true => project_servers(places),
            false => ServerList::default(),
        };
        self.retain_wanted(&mut offered.servers);
        let mut found = offered.servers;
        let mut problems: Vec<_> = offered.problems.iter().map(ToString::to_string).collect();
        for layer in self.layers().iter().rev() {
            let Some(named) = layer.value.get("mcpServers") else { continue };
            let document = json!({ "mcpServers": named }).to_string();
            let list = read_text(&document, layer.path.as_deref(), scope(layer.source));
            found.extend(list.servers);
            // SettingsPaths are those in the piece that was read, not in the file.
            problems.extend(list.problems.iter().map(|problem| match &problem.path {
                Some(path) => format!("{}: {}", path.display(), problem.message),
                None => problem.message.clone(),
            }));
        }
        (found, problems)
    }

    /// Leaves out what settings object to: by name, or all that none of them names.
    fn retain_wanted(&self, servers: &mut Vec<NamedServer>) {
        let known = self.known();
        let all = known.enable_all_project_mcp_servers != Some(false);
        servers.retain(|NamedServer { name, .. }| {
            let enables = |layer: &Layer| layer.known.enabled_mcpjson_servers.contains(name);
            (all || self.layers().iter().any(enables))
                && !known.disabled_mcpjson_servers.contains(name)
        });
    }
}

/// The servers of `.mcp.json` that a project which is not trusted would start.
pub fn servers_left_out(places: &SettingsPaths, standing: &ProjectTrust) -> SkippedParts {
    let mut left_out = SkippedParts::default();
    for folder in places.project_folders() {
        let file = folder.join(".mcp.json");
        if !file.exists() {
            continue;
        }
        if !standing.admits(&file) {
            left_out.add(Part::Link, super::shown(&file, &places.project));
            continue;
        }
        for server in read_file(&file, Scope::Project).servers {
            left_out.add(Part::Server, server.name);
        }
    }
    left_out
}

/// The servers of the project's `.mcp.json`, and of those above it in the repository. Of two with one
/// name the nearer counts.
pub fn project_servers(places: &SettingsPaths) -> ServerList {
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
