//! `/mcp`: lists, enables and disables MCP servers.

use bowline_mcp::McpError;
use bowline_protocol::McpServerState;

use super::texts;
use crate::session_context::SessionContext;

/// The text when there is nothing to list.
const NONE: &str = "There are no MCP servers.";

/// An operation on servers.
#[derive(Clone, Copy)]
enum Action {
    Reconnect,
    Enable,
    Disable,
}

/// Lists the servers, or performs the action that the user names.
pub(super) async fn run(session: &SessionContext, args: &str) -> String {
    let (action, wanted) = args.split_once(char::is_whitespace).unwrap_or((args, "all"));
    let (action, wanted) = match (action, wanted.trim()) {
        ("", _) => return list(session),
        ("reconnect", wanted) => (Action::Reconnect, wanted),
        ("enable", wanted) => (Action::Enable, wanted),
        ("disable", wanted) => (Action::Disable, wanted),
        (other, _) => {
            return format!("/mcp cannot {other}. It can reconnect, enable and disable.");
        }
    };
    let names = session.mcp.status().into_iter().map(|server| server.name);
    let names: Vec<_> = names.filter(|name| wanted == "all" || name == wanted).collect();
    if names.is_empty() {
        return match wanted {
            "all" => NONE.to_owned(),
            wanted => format!("There is no MCP server {wanted}."),
        };
    }
    let mut lines = Vec::new();
    for name in names {
        lines.push(match perform(session, action, &name).await {
            Ok(()) => format!("{name}: {}", action.done()),
            Err(error) => format!("{name}: {error}"),
        });
    }
    session.servers.changed();
    lines.join("\n")
}

fn list(session: &SessionContext) -> String {
    let servers = session.mcp.status();
    if servers.is_empty() {
        return NONE.to_owned();
    }
    let line = |server: &McpServerState| {
        let tools = server.tools.as_ref().map_or(0, Vec::len);
        format!("- {}: {}, {tools} tools", server.name, server.status)
    };
    texts::list("MCP servers:", servers.iter().map(line))
}

async fn perform(session: &SessionContext, action: Action, name: &str) -> Result<(), McpError> {
    match action {
        Action::Reconnect => session.mcp.reconnect(name).await,
        Action::Enable => session.mcp.set_enabled(name, true).await,
        Action::Disable => session.mcp.set_enabled(name, false).await,
    }
}

impl Action {
    fn done(self) -> &'static str {
        match self {
            Self::Reconnect => "connected",
            Self::Enable => "enabled",
            Self::Disable => "disabled",
        }
    }
}
