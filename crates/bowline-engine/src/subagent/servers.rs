//! MCP servers of a single agent: started when it begins, closed when it ends.

use std::{sync::Arc, time::Duration};

use bowline_mcp::{McpServers, NamedServer, expand};
use bowline_protocol::{NotificationMessage, NotificationPriority};
use tokio_util::sync::CancellationToken;

use crate::{agent_kind::AgentKind, identity::Subagent, session_context::SessionContext};

/// The time that a screen shows the notice of servers that were not started.
const SHOWN_MS: u64 = 10_000;
/// Timeout of the shutdown of its servers.
const CLOSE_GRACE: Duration = Duration::from_secs(3);

/// The servers of an agent of this kind, not connected yet.
pub(super) fn of(
    session: &Arc<SessionContext>,
    kind: &AgentKind,
    subagent: &Subagent,
) -> Option<Arc<McpServers>> {
    let wanted = startable(session, kind, subagent.id.as_str());
    if wanted.is_empty() {
        return None;
    }
    Some(session.bridge.agent_servers(&session.config, &session.workspace, &wanted))
}

/// The servers of a kind of agent, with variables expanded. Those of
/// an untrusted project are left out, and the host is notified.
pub(crate) fn startable(session: &SessionContext, kind: &AgentKind, who: &str) -> Vec<NamedServer> {
    if !kind.blocked_servers.is_empty() {
        session.sink.enqueue(NotificationMessage {
            key: format!("agent-mcp-blocked-{who}"),
            text: format!(
                "MCP servers of the agent {} are not started, because this folder is not \
                 trusted: {}",
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

/// Connects them, and waits up to `grace` for slow ones.
pub(super) async fn reach(servers: &McpServers, grace: Duration, cancel: &CancellationToken) {
    servers.start();
    tokio::select! {
        () = servers.wait_ready(grace) => {}
        () = cancel.cancelled() => {}
    }
}

/// Disconnects them.
pub(super) async fn leave(servers: &McpServers) {
    tokio::time::timeout(CLOSE_GRACE, servers.close()).await.ok();
}
