//! Instructions of MCP servers for the model.

use std::collections::HashSet;

use crate::{session_context::SessionContext, toolset::Toolset};

/// Instructions of the servers whose tools an agent has, by server.
pub(super) fn instructions(session: &SessionContext, tools: &Toolset) -> Vec<(String, String)> {
    let definitions = tools.definitions();
    let servers = definitions.iter().filter_map(|tool| tools.server_of(&tool.name));
    let names: HashSet<_> = servers.map(|server| server.name).collect();
    let texts = session.mcp.instructions().into_iter();
    texts.filter(|(server, _)| names.contains(server)).collect()
}

/// The same as a section of the system prompt.
pub(super) fn section(session: &SessionContext, tools: &Toolset) -> Option<String> {
    let texts = instructions(session, tools).into_iter();
    let texts: Vec<_> = texts.map(|(server, text)| format!("## {server}\n{text}")).collect();
    let head = "# MCP servers\nWhat servers say about the use of their tools:";
    (!texts.is_empty()).then(|| format!("{head}\n\n{}", texts.join("\n\n")))
}
