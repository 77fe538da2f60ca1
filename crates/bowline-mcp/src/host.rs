//! Traits that the engine implements for the servers of a session.

use bowline_protocol::{Elicitation, ElicitationResponse, McpServerStatus, RawJson};
use futures_util::future::BoxFuture;

use crate::in_process::{CallLimits, InProcessServer};

/// The MCP servers inside the host.
pub trait SdkServers: Send + Sync + 'static {
    /// Sends one JSON-RPC message to a server and returns its JSON-RPC response, or anything at all
    /// if the message was a notification.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request.
    fn send(
        &self,
        server: &str,
        message: RawJson,
    ) -> BoxFuture<'_, Result<RawJson, SdkServerError>>;

    /// The server of this name if it runs in this process, so that its tools are called directly
    /// and kept to `limits`; `None` if it is sent messages. Asked whenever the server is connected.
    fn in_process(&self, server: &str, limits: CallLimits) -> Option<InProcessServer> {
        let _ = (server, limits);
        None
    }
}

/// Why a message to a server inside the host has no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SdkServerError {
    /// The host refuses, as in "there is no such server".
    #[error("{0}")]
    Refused(String),
    /// The host is gone, or went away before it responded.
    #[error("the host closed the connection")]
    Closed,
}

/// The handler of elicitations: requests of a server for input from the user.
pub trait Elicit: Send + Sync + 'static {
    /// Prompts the user. Without a user the response is `decline`.
    ///
    /// # Cancel safety
    ///
    /// Dropped when the server cancels the request or goes away.
    fn elicit(&self, request: Elicitation) -> BoxFuture<'_, ElicitationResponse>;

    /// A server reports that an elicitation at a URL is complete.
    fn complete(&self, server: &str, elicitation_id: &str) {
        let _ = (server, elicitation_id);
    }
}

/// The observer of servers. Called from their tasks, so it must return quickly.
pub trait McpObserver: Send + Sync + 'static {
    /// The status of a server changed.
    fn status_changed(&self, server: &str, status: McpServerStatus) {
        let _ = (server, status);
    }

    /// The tools of a server changed.
    fn tools_changed(&self, server: &str) {
        let _ = server;
    }

    /// The prompts of a server changed.
    fn prompts_changed(&self, server: &str) {
        let _ = server;
    }

    /// The resources of a server changed.
    fn resources_changed(&self, server: &str) {
        let _ = server;
    }
}
