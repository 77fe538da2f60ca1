//! The MCP servers that the command line names.

use bowline_engine::SessionConfig;
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

/// Reads the servers of `--mcp-config`. An invalid document is an error; an invalid server is left
/// out with a notice.
pub(super) fn read(
    arguments: &[String],
    config: &mut SessionConfig,
    notices: &mut Vec<String>,
) -> Result<(), SetupError> {
    let mut wrong = Vec::new();
    for argument in arguments {
        let ServerList { servers, problems } = read_argument(argument, &config.cwd);
        config.mcp_servers.extend(servers);
        for problem in problems {
            match problem.server_error() {
                Some(error) => {
                    config.mcp_server_errors.push(error);
                    notices.push(format!("Ignoring an MCP server: {problem}"));
                }
                None => wrong.push(problem.to_string()),
            }
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("Invalid MCP configuration:\n{}", wrong.join("\n")).into())
}
