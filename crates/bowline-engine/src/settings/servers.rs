//! The MCP servers of a project that settings approve of.

use std::path::Path;

use bowline_mcp::{NamedServer, Scope, ServerList, read_file};

use super::KnownSettings;

impl KnownSettings {
    /// The servers of the project's `.mcp.json` that these settings approve of.
    pub fn approved_servers(&self, project: &Path) -> Vec<NamedServer> {
        let all = self.enable_all_project_mcp_servers == Some(true);
        let mut servers = project_servers(project).servers;
        servers.retain(|server| {
            (all || self.enabled_mcpjson_servers.contains(&server.name))
                && !self.disabled_mcpjson_servers.contains(&server.name)
        });
        servers
    }
}

/// The servers of the project's `.mcp.json`.
pub fn project_servers(project: &Path) -> ServerList {
    read_file(&project.join(".mcp.json"), Scope::Project)
}
