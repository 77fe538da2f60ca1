//! The way to the agent for what servers say without being asked.

use bowline_protocol::{McpServerMessage, RawJson};
use serde::Serialize;
use tokio::sync::mpsc;

/// Messages that wait to be sent. An agent takes each at once, so more than a burst of progress
/// reports means that it is busy, and whoever reports should wait.
const ROOM: usize = 64;

/// Takes messages of servers for the agent.
#[derive(Debug, Clone)]
pub(crate) struct Outlet(mpsc::Sender<McpServerMessage>);

/// An outlet, and what comes out of it.
pub(crate) fn outlet() -> (Outlet, mpsc::Receiver<McpServerMessage>) {
    let (sender, receiver) = mpsc::channel(ROOM);
    (Outlet(sender), receiver)
}

impl Outlet {
    /// Sends a notification when there is room for it. Without a session nobody hears it.
    pub(super) async fn notify(&self, server: &str, method: &str, params: &impl Serialize) {
        #[derive(Serialize)]
        struct Notification<'a, P> {
            jsonrpc: &'static str,
            method: &'a str,
            params: &'a P,
        }
        let message = Notification { jsonrpc: "2.0", method, params };
        match RawJson::from_value(&message) {
            Ok(message) => self.send(server, message).await,
            Err(error) => tracing::warn!(server, %error, "a notification has no form in JSON"),
        }
    }

    /// Sends a message when there is room for it.
    pub(super) async fn send(&self, server: &str, message: RawJson) {
        let server_name = server.to_owned();
        let message = McpServerMessage { server_name, message, ..McpServerMessage::default() };
        if self.0.send(message).await.is_err() {
            tracing::debug!(server, "the session is over; a message of a server is dropped");
        }
    }
}
