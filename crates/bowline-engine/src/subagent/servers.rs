//! MCP servers of an agent's own: reached when it begins, gone when it ends.

use std::{sync::Arc, time::Duration};

use bowline_mcp::{McpServers, NamedServer, Scope, expand, read_text};
use bowline_protocol::{AgentMcpServer, NotificationMessage, NotificationPriority};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::AgentKind;
use crate::{
    identity::Subagent,
    session::{McpBridge, Shared},
};

/// How long a screen may show that servers were not started.
const SHOWN_MS: u64 = 10_000;
/// How long its servers may take to go away.
const CLOSE_GRACE: Duration = Duration::from_secs(3);

/// The servers among `servers` that are an agent's own. Those that it names, its session has.
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

/// The same for a list, or a map, that somebody wrote. One that makes no sense is left out.
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

/// The servers of an agent of this kind, to be reached later.
pub(super) fn of(
    session: &Arc<Shared>,
    kind: &AgentKind,
    subagent: &Subagent,
) -> Option<Arc<McpServers>> {
    let wanted = startable(session, kind, subagent.id.as_str());
    if wanted.is_empty() {
        return None;
    }
    let bridge = McpBridge::new(Arc::clone(session.sink.host()));
    bridge.belongs_to(session);
    Some(bridge.agent_servers(session, &wanted))
}

/// The servers that an agent of this kind brings along, with the values of variables. What a project
/// that nobody trusts would start is left out, and the host is told.
pub(crate) fn startable(session: &Shared, kind: &AgentKind, who: &str) -> Vec<NamedServer> {
    if !kind.blocked_servers.is_empty() {
        session.sink.enqueue(NotificationMessage {
            key: format!("agent-mcp-blocked-{who}"),
            text: format!(
                "MCP servers of the agent {} are not started, because nobody has trusted this \
                 folder: {}",
                kind.name,
                kind.blocked_servers.join(", ")
            ),
            priority: NotificationPriority::Medium,
            color: Some("warning".to_owned()),
            timeout_ms: Some(SHOWN_MS),
            ..NotificationMessage::default()
        });
        return Vec::new();
    }
    let mut servers = kind.servers.clone();
    for NamedServer { name, config, .. } in &mut servers {
        let missing = expand(config, &|variable| session.workspace.variable(variable));
        if !missing.is_empty() {
            tracing::warn!(name, ?missing, "an MCP server of an agent misses variables");
        }
    }
    servers
}

/// Reaches them, and waits a while for those that are slow.
pub(super) async fn reach(servers: &McpServers, grace: Duration, cancel: &CancellationToken) {
    servers.start();
    tokio::select! {
        () = servers.wait_ready(grace) => {}
        () = cancel.cancelled() => {}
    }
}

/// Lets go of them.
pub(super) async fn leave(servers: &McpServers) {
    tokio::time::timeout(CLOSE_GRACE, servers.close()).await.ok();
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
