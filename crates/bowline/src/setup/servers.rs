//! The MCP servers that the command line names.

use std::path::Path;

use bowline_mcp::{Options, ServerList, read_argument};

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
