//! The host as the engine sees it: messages and requests over the wire.

use bowline_engine::{Answer, BoxFuture, Host, HostError};
use bowline_peer::{CallError, Peer, SendError};
use bowline_protocol::{
    AgentRequest, CanUseTool, Elicitation, ElicitationResponse, HookCallback, McpMessage, Message,
    PermissionResult, RawJson,
};

/// The host on the other end of the wire.
#[derive(Debug)]
pub(crate) struct PeerHost {
    pub(crate) peer: Peer,
}

impl Host for PeerHost {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match self.peer.send(&message).await {
                // The end of the output shuts the session down elsewhere.
                Ok(()) | Err(SendError::Closed) => {}
                Err(error) => tracing::error!(%error, "a message is lost"),
            }
        })
    }

    fn can_use_tool(&self, request: CanUseTool) -> Answer<'_, PermissionResult> {
        // Listed, because the user may take long to decide and the host may connect again meanwhile.
        Box::pin(async move { self.peer.request_listed(request).await.map_err(host_error) })
    }

    fn hook_callback(&self, call: HookCallback) -> Answer<'_, RawJson> {
        // The fields of a hook's output are checked where its event is known.
        Box::pin(async move {
            let output = self.peer.request_raw(&AgentRequest::from(call)).await;
            // An acknowledgement without a body is an output without an opinion.
            Ok(output.map_err(host_error)?.unwrap_or_else(RawJson::empty_object))
        })
    }

    fn mcp_message(&self, message: McpMessage) -> Answer<'_, RawJson> {
        Box::pin(async move {
            let response = self.peer.request(message).await.map_err(host_error)?;
            Ok(response.mcp_response)
        })
    }

    fn elicit(&self, request: Elicitation) -> Answer<'_, ElicitationResponse> {
        Box::pin(async move { self.peer.request_listed(request).await.map_err(host_error) })
    }
}

fn host_error(error: CallError) -> HostError {
    match error {
        CallError::Refused(failure) => HostError::Refused(failure.error),
        CallError::TimedOut(_) => HostError::TimedOut,
        CallError::Unwritable(error) => HostError::Malformed(error.to_string()),
        CallError::Unreadable(error) => HostError::Malformed(error.to_string()),
        _ => HostError::Closed,
    }
}
