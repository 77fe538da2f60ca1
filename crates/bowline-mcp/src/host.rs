//! What the servers of a session need from whoever runs it.

use bowline_protocol::{Elicitation, ElicitationResponse, McpServerStatus, RawJson};
use futures_util::future::BoxFuture;

use crate::in_process::{CallLimits, InProcessServer};

/// The way to the MCP servers inside the host.
pub trait SdkServers: Send + Sync + 'static {
    /// Hands one JSON-RPC message to a server and returns what it answered: a JSON-RPC response,
    /// or anything at all if the message was a notification.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future withdraws the question.
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

/// Why a message to a server inside the host has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SdkServerError {
    /// The host says no, as in "there is no such server".
    #[error("{0}")]
    Refused(String),
    /// The host is gone, or went away before it answered.
    #[error("the host closed the connection")]
    Closed,
}

/// Somebody who can put a server's question to a person.
pub trait Elicit: Send + Sync + 'static {
    /// Asks. Who cannot ask answers `decline`.
    ///
    /// # Cancel safety
    ///
    /// Dropped when the server withdraws the question or goes away.
    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, ElicitationResponse>;

    /// A server says that what it asked for at an address is done (`elicitation_id`).
    fn complete(&self, server: &str, elicitation_id: &str) {
        let _ = (server, elicitation_id);
    }
}

/// Hears what becomes of servers. Called from their tasks, so it must return quickly.
pub trait McpObserver: Send + Sync + 'static {
    /// A server is doing better or worse than before.
    fn status_changed(&self, server: &str, status: McpServerStatus) {
        let _ = (server, status);
    }

    /// The tools of a server came, went or changed.
    fn tools_changed(&self, server: &str) {
        let _ = server;
    }

    /// The prompts of a server came, went or changed.
    fn prompts_changed(&self, server: &str) {
        let _ = server;
    }

    /// The resources of a server came, went or changed.
    fn resources_changed(&self, server: &str) {
        let _ = server;
    }
}
