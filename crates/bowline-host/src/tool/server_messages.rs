//! Messages that servers send to the agent unasked.

use bowline_protocol::{McpServerMessage, RawJson, jsonrpc::Notification};
use serde::Serialize;
use tokio::sync::mpsc;

/// Messages that may wait to be sent. An agent takes each at once, so more than a burst of progress
/// reports means that it is busy; then the sender waits.
const CAPACITY: usize = 64;

/// The sending end of the queue of messages to the agent.
#[derive(Debug, Clone)]
pub(crate) struct ServerMessages(mpsc::Sender<McpServerMessage>);

/// A queue of messages to the agent.
pub(crate) fn server_messages() -> (ServerMessages, mpsc::Receiver<McpServerMessage>) {
    let (sender, receiver) = mpsc::channel(CAPACITY);
    (ServerMessages(sender), receiver)
}

impl ServerMessages {
    /// Sends a notification when there is room for it. Without a session it is dropped.
    pub(super) async fn notify(&self, server: &str, method: &str, params: &impl Serialize) {
        let message = Notification::new(method, Some(params));
        match RawJson::from_value(&message) {
            Ok(message) => self.send(server, message).await,
            Err(error) => {
                tracing::warn!(server, %error, "a notification cannot be written as JSON")
            }
        }
    }

    /// Sends a message when there is room for it.
    pub(super) async fn send(&self, server: &str, message: RawJson) {
        let server_name = server.to_owned();
        let message = McpServerMessage { server_name, message, ..McpServerMessage::default() };
        if self.0.send(message).await.is_err() {
            tracing::debug!(server, "the session has ended; a message of a server is dropped");
        }
    }
}
