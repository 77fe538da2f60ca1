//! The plugins of a session: their hooks and servers come and go with them.

use std::time::Duration;

use bowline_protocol::CommandsChangedMessage;

use super::{Shared, catalog};
use crate::{command, plugin::Plugins};

/// How long whoever has plugins read again waits for servers that they bring.
const SERVER_PATIENCE: Duration = Duration::from_secs(5);

impl Shared {
    /// Takes plugins that were read again, and waits for the servers that they bring.
    pub(crate) async fn reload_plugins(&self, reloaded: Plugins) {
        self.change_plugins(reloaded).await;
        self.sink.flush().await;
        self.mcp.wait_ready(SERVER_PATIENCE).await;
    }

    /// Registers the servers of plugins that are not there yet.
    pub(super) fn add_plugin_servers(&self) {
        for server in self.plugins().servers() {
            self.set_server_policy(&server.name, &server.config);
            self.mcp.add(server.clone());
        }
    }

    /// Takes other plugins in place of those there are, and says so if that changes the commands.
    pub(super) async fn change_plugins(&self, new: Plugins) {
        let before = catalog::commands(self);
        let old = self.plugins();
        let new = self.set_plugins(new);
        self.hooks.set_plugins(&new);
        let kept: Vec<_> = new.servers().collect();
        for server in old.servers().filter(|old| !kept.contains(old)) {
            self.mcp.remove(&server.name).await;
        }
        self.add_plugin_servers();
        self.servers_changed();
        command::reload(self);
        self.live().tools_changed = true;
        let commands = catalog::commands(self);
        if commands != before {
            let message = CommandsChangedMessage { commands, ..CommandsChangedMessage::default() };
            self.sink.enqueue(message);
        }
    }
}
