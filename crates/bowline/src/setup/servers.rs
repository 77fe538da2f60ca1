//! The MCP servers that the command line names.

use std::path::Path;

use bowline_engine::settings::{Settings, Source, Trust};
use bowline_mcp::{NamedServer, Options, Scope, ServerList, read_argument, read_text};
use serde_json::json;

use super::SetupError;
use crate::environment::Environment;

/// Limits of servers.
pub(super) fn options(environment: &Environment) -> Options {
    let mut options = Options::default();
    options.connect_timeout = environment.mcp_connect_timeout().unwrap_or(options.connect_timeout);
    options.call_timeout = environment.mcp_call_timeout().unwrap_or(options.call_timeout);
    options.max_output_tokens =
        environment.max_mcp_output_tokens().unwrap_or(options.max_output_tokens);
    options
}

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

/// The servers that settings name under `mcpServers`, those that win first. They are programs that
/// are run, so a project that nobody trusts has no say.
pub(super) fn in_settings(
    settings: &Settings,
    trust: Trust,
    notices: &mut Vec<String>,
) -> Vec<NamedServer> {
    let mut found = Vec::new();
    for layer in settings.layers().iter().rev() {
        let Some(servers) = layer.value.get("mcpServers") else { continue };
        let scope = match layer.source {
            Source::Project if trust != Trust::Trusted => continue,
            Source::Project => Scope::Project,
            Source::User => Scope::User,
            Source::Local => Scope::Local,
            Source::Flag => Scope::Dynamic,
            Source::Policy => Scope::Managed,
        };
        let document = json!({ "mcpServers": servers }).to_string();
        let ServerList { servers, problems } = read_text(&document, layer.path.as_deref(), scope);
        found.extend(servers);
        // Places are those in the piece that was read, not in the file.
        notices.extend(problems.iter().map(|problem| match &problem.path {
            Some(path) => format!("{}: {}", path.display(), problem.message),
            None => problem.message.clone(),
        }));
    }
    found
}

/// Adds servers whose names are not taken.
pub(super) fn add(servers: &mut Vec<NamedServer>, more: Vec<NamedServer>) {
    for server in more {
        if !servers.iter().any(|taken| taken.name == server.name) {
            servers.push(server);
        }
    }
}
