//! The MCP servers that the command line and the project name.

use std::path::Path;

use bowline_engine::settings::KnownSettings;
use bowline_mcp::{NamedServer, Scope, ServerList, read_argument, read_file};

use super::SetupError;

/// Reads the servers of `--mcp-config`. One that makes no sense is an error: it was asked for.
pub(super) fn check(arguments: &[String], cwd: &Path) -> Result<ServerList, SetupError> {
    let mut all = ServerList::default();
    for argument in arguments {
        let ServerList { servers, problems } = read_argument(argument, cwd);
        all.servers.extend(servers);
        all.problems.extend(problems);
    }
    if all.problems.is_empty() {
        return Ok(all);
    }
    let problems: Vec<_> = all.problems.iter().map(ToString::to_string).collect();
    Err(format!("Invalid MCP configuration:\n{}", problems.join("\n")).into())
}

/// The servers of the project's `.mcp.json` that the settings approve of.
pub(super) fn approved(project: &Path, known: &KnownSettings) -> Vec<NamedServer> {
    let all = known.enable_all_project_mcp_servers == Some(true);
    let mut servers = project_servers(project).servers;
    servers.retain(|server| {
        (all || known.enabled_mcpjson_servers.contains(&server.name))
            && !known.disabled_mcpjson_servers.contains(&server.name)
    });
    servers
}

/// The servers of the project's `.mcp.json`.
pub(crate) fn project_servers(project: &Path) -> ServerList {
    read_file(&project.join(".mcp.json"), Scope::Project)
}
