//! MCP servers in an agent's definition.

use bowline_mcp::{NamedServer, Scope, read_text};
use bowline_protocol::AgentMcpServer;
use serde_json::{Map, Value, json};

/// The servers that `servers` defines inline. Those given by name belong to the session.
pub(super) fn configured(servers: &[AgentMcpServer]) -> Vec<NamedServer> {
    let own = servers.iter().filter_map(|server| match server {
        AgentMcpServer::Configs(configs) => Some(configs),
        AgentMcpServer::Name(_) => None,
    });
    let named = |(name, config): (&String, &_)| NamedServer {
        name: name.clone(),
        config: Clone::clone(config),
        scope: Scope::Agent,
    };
    own.flatten().map(named).collect()
}

/// The same for a list, or a map, from a file. Invalid ones are left out.
pub(super) fn written(servers: Value) -> Vec<NamedServer> {
    let entries: Map<String, Value> = match servers {
        Value::Object(entries) => entries,
        Value::Array(list) => {
            let own = list.into_iter().filter_map(|entry| match entry {
                Value::Object(configs) => Some(configs),
                _ => None,
            });
            own.flatten().collect()
        }
        _ => return Vec::new(),
    };
    let list = read_text(&json!({ "mcpServers": entries }).to_string(), None, Scope::Agent);
    for problem in &list.problems {
        tracing::warn!(%problem, "an MCP server of an agent is left out");
    }
    list.servers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_sessions_and_the_rest_is_its_own() {
        let named = |servers: Value| -> Vec<String> {
            written(servers).into_iter().map(|server| server.name).collect()
        };
        let program = json!({"command": "server"});
        assert_eq!(named(json!(["known", {"own": program, "other": program}])), ["own", "other"]);
        assert_eq!(named(json!({"own": program})), ["own"]);
        assert_eq!(named(json!([{"bad": {"command": ""}}, {"own": program}])), ["own"]);
        assert_eq!(named(json!("known")), [""; 0]);
    }
}
