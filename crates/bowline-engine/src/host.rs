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
    /// Takes a message. Returns once there is room for the next: a host that stops
    /// reading stalls the engine, not memory.
    fn emit(&self, message: Message) -> BoxFuture<'_, ()>;

    /// May this tool run?
    fn can_use_tool(&self, question: CanUseTool) -> Answer<'_, PermissionResult> {
        let _ = question;
        no_approver()
    }

    /// Runs a hook that the host registered; the answer is a hook output.
    fn hook_callback(&self, call: HookCallback) -> Answer<'_, RawJson> {
        let _ = call;
        no_approver()
    }

    /// Passes a JSON-RPC message to an MCP server that lives in the host; the answer is its response.
    fn mcp_message(&self, message: McpMessage) -> Answer<'_, RawJson> {
        let _ = message;
        no_approver()
    }

    /// The MCP server of this name if it runs in this process: its tools are called directly and
    /// kept to `limits`. `None` if the host has no such server, or it is sent messages.
    fn in_process_server(&self, server: &str, limits: CallLimits) -> Option<InProcessServer> {
        let _ = (server, limits);
        None
    }

    /// An MCP server wants to know something from the person.
    fn elicit(&self, question: Elicitation) -> Answer<'_, ElicitationResponse> {
        let _ = question;
        no_approver()
    }
}

/// The response to a request, or why there is none.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, HostError>>;

fn no_approver<T: Send + 'static>() -> Answer<'static, T> {
    Box::pin(std::future::ready(Err(HostError::Refused("no approver is attached".to_owned()))))
}

/// Why the host gave no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// It is gone, or will say no more.
    #[error("the host closed its end before answering")]
    Closed,
    /// It answered with an error.
    #[error("{0}")]
    Refused(String),
    /// Its response is invalid.
    #[error("the host's answer cannot be read: {0}")]
    Malformed(String),
    /// It took too long.
    #[error("the host did not answer in time")]
    TimedOut,
}
