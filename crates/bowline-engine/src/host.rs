//! Host: the embedding side, which receives messages and responds to the engine's requests.
//!
//! A door is an implementation of [`Host`] plus a loop that turns its own input
//! into calls of [`Session`](crate::Session).

use bowline_mcp::{CallLimits, InProcessServer};
use bowline_model::BoxFuture;
use bowline_protocol::{
    CanUseTool, Elicitation, ElicitationResponse, HookCallback, McpMessage, Message,
    PermissionResult, RawJson,
};

/// The embedding side: receives messages and responds to the engine's requests.
///
/// Every request is a future; dropping it cancels the request.
pub trait Host: Send + Sync + 'static {
    /// Receives a message. Returns once there is room for the next one: a host that stops
    /// reading blocks the engine instead of filling memory.
    fn emit(&self, message: Message) -> BoxFuture<'_, ()>;

    /// Requests permission for a tool call.
    fn can_use_tool(&self, request: CanUseTool) -> Answer<'_, PermissionResult> {
        let _ = request;
        no_approver()
    }

    /// Runs a hook that the host registered; the response is a hook output.
    fn hook_callback(&self, call: HookCallback) -> Answer<'_, RawJson> {
        let _ = call;
        no_approver()
    }

    /// Passes a JSON-RPC message to an MCP server that runs in the host, and returns its response.
    fn mcp_message(&self, message: McpMessage) -> Answer<'_, RawJson> {
        let _ = message;
        no_approver()
    }

    /// The MCP server of this name if it runs in this process: its tools are called directly and
    /// kept to `limits`. `None` if the host has no such server, or if it receives messages.
    fn in_process_server(&self, server: &str, limits: CallLimits) -> Option<InProcessServer> {
        let _ = (server, limits);
        None
    }

    /// Requests input from the user for an MCP server.
    fn elicit(&self, request: Elicitation) -> Answer<'_, ElicitationResponse> {
        let _ = request;
        no_approver()
    }
}

/// The future of a response to a request, or of the reason for its failure.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, HostError>>;

fn no_approver<T: Send + 'static>() -> Answer<'static, T> {
    Box::pin(std::future::ready(Err(HostError::Refused("no approver is attached".to_owned()))))
}

/// Why the host gave no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// It has closed the connection.
    #[error("the host closed its end before responding")]
    Closed,
    /// It responded with an error.
    #[error("{0}")]
    Refused(String),
    /// Its response is invalid.
    #[error("the host's response is invalid: {0}")]
    Malformed(String),
    /// It did not respond in time.
    #[error("the host did not respond in time")]
    TimedOut,
}
