//! Directory of a session's servers, by name.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::{error::McpError, server::Server, server_core::Core};

/// The servers of a session, in the order in which they were added.
#[derive(Default)]
pub(crate) struct Directory(Mutex<Vec<Arc<Server>>>);

impl Directory {
    /// All servers.
    pub(crate) fn servers(&self) -> Vec<Arc<Server>> {
        self.0.lock().clone()
    }

    /// The state of all servers.
    pub(crate) fn cores(&self) -> Vec<Arc<Core>> {
        self.0.lock().iter().map(|server| Arc::clone(&server.core)).collect()
    }

    /// The server of this name.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<Server>, McpError> {
        let servers = self.0.lock();
        let found = servers.iter().find(|server| server.core.name == name);
        found.cloned().ok_or_else(|| McpError::NotFound(name.to_owned()))
    }

    /// Adds a server, unless there is one of its name.
    pub(crate) fn add(&self, server: Server) {
        let mut servers = self.0.lock();
        if servers.iter().all(|known| known.core.name != server.core.name) {
            servers.push(Arc::new(server));
        }
    }

    /// Removes these servers.
    pub(crate) fn remove(&self, leaving: &[Arc<Server>]) {
        self.0.lock().retain(|known| !leaving.iter().any(|it| Arc::ptr_eq(it, known)));
    }

    /// Removes all servers and returns them.
    pub(crate) fn take(&self) -> Vec<Arc<Server>> {
        std::mem::take(&mut *self.0.lock())
    }
}
