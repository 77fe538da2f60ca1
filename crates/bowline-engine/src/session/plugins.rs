//! The plugins of a session: their hooks and servers come and go with them.

use bowline_protocol::CommandsChangedMessage;

use super::{Shared, catalog};
use crate::{
    command,
    plugin::{Plugin, Plugins},
};

impl Shared {
    /// Registers the servers of plugins that are not there yet.
    pub(super) fn add_plugin_servers(&self) {
        for server in self.plugins().loaded().iter().flat_map(|plugin| &plugin.servers) {
            self.set_server_policy(&server.name, &server.config);
            self.mcp.add(server.clone());
        }
    }

    /// Takes other plugins in place of those there are, and says so if that changes the commands.
    pub(super) async fn change_plugins(&self, change: impl FnOnce(&Plugins) -> Plugins) {
        let before = catalog::commands(self);
        let old = self.plugins();
        let new = self.set_plugins(change(&old));
        self.hooks.set_plugins(&new);
        let servers = |plugin: &Plugin| plugin.servers.clone();
        let kept: Vec<_> = new.loaded().iter().flat_map(servers).collect();
        for server in old.loaded().iter().flat_map(servers).filter(|old| !kept.contains(old)) {
            self.mcp.remove(&server.name).await;
        }
        self.add_plugin_servers();
        self.servers_changed();
        command::reload(self);
        self.live().tools_changed = true;
        let commands = catalog::commands(self);
        if commands != before {
            let message = CommandsChangedMessage { commands, ..CommandsChangedMessage::default() };
            self.outlet.aside(message);
        }
    }
}
