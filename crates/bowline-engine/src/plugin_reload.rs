//! Reload of plugins, with their hooks and servers.

use std::time::Duration;

use bowline_protocol::CommandsChangedMessage;

use crate::{plugin::Plugins, session_context::SessionContext};

/// The time that a reload waits for the servers of plugins.
const SERVER_PATIENCE: Duration = Duration::from_secs(5);

/// Applies plugins that were read again, and waits for their servers.
pub(crate) async fn reload(session: &SessionContext, reloaded: Plugins) {
    replace(session, reloaded).await;
    session.sink.flush().await;
    session.mcp.wait_ready(SERVER_PATIENCE).await;
}

/// Registers the servers of plugins that are not registered yet.
pub(crate) fn add_servers(session: &SessionContext) {
    for server in session.plugins.get().servers() {
        session.permissions.set_server_policy(&server.name, &server.config);
        session.mcp.add(server.clone());
    }
}

/// Replaces the plugins, and notifies the host if that changes the commands.
pub(crate) async fn replace(session: &SessionContext, new: Plugins) {
    let before = session.commands.all();
    let old = session.plugins.get();
    let new = session.plugins.set(new);
    session.hooks.registry().set_plugins(&new);
    let kept: Vec<_> = new.servers().collect();
    for server in old.servers().filter(|old| !kept.contains(old)) {
        session.mcp.remove(&server.name).await;
    }
    add_servers(session);
    session.servers.changed();
    session.commands.reload();
    session.pending.tools_changed();
    let commands = session.commands.all();
    if commands != before {
        let message = CommandsChangedMessage { commands, ..CommandsChangedMessage::default() };
        session.sink.enqueue(message);
    }
}
