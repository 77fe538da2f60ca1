//! This program as an embedded engine sees it.

use std::sync::Arc;

use bowline_engine::{Answer, CallLimits, Host, HostError, InProcessServer};
use bowline_model::BoxFuture;
use bowline_protocol::{
    CanUseTool, Elicitation, ElicitationResponse, HookCallback, McpMessage, Message,
    PermissionResult, RawJson,
};
use tokio_util::sync::CancellationToken;

use super::{queue::Queue, tool};
use crate::{callback::CallbackFailure, responder::Responder};

pub(super) struct EmbeddedHost {
    pub(super) callbacks: Arc<Responder>,
    pub(super) queue: Arc<Queue>,
}

impl Host for EmbeddedHost {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        Box::pin(self.queue.push(message))
    }

    fn can_use_tool(&self, request: CanUseTool) -> Answer<'_, PermissionResult> {
        Box::pin(async move {
            let open = PendingRequest::default();
            self.callbacks.can_use_tool(request, None, open.cancel()).await.map_err(refused)
        })
    }

    fn hook_callback(&self, call: HookCallback) -> Answer<'_, RawJson> {
        Box::pin(async move {
            let open = PendingRequest::default();
            let output = self.callbacks.hook(call, open.cancel()).await.map_err(refused)?;
            RawJson::from_value(&output).map_err(|error| HostError::Malformed(error.to_string()))
        })
    }

    fn mcp_message(&self, message: McpMessage) -> Answer<'_, RawJson> {
        Box::pin(async move {
            let open = PendingRequest::default();
            self.callbacks.mcp_message(message, open.cancel()).await.map_err(refused)
        })
    }

    fn in_process_server(&self, server: &str, limits: CallLimits) -> Option<InProcessServer> {
        let server = self.callbacks.servers.tools(server)?;
        Some(tool::in_process(&server, &limits, &self.callbacks))
    }

    fn elicit(&self, request: Elicitation) -> Answer<'_, ElicitationResponse> {
        Box::pin(async move {
            let open = PendingRequest::default();
            self.callbacks.elicit(request, open.cancel()).await.map_err(refused)
        })
    }
}

fn refused(failure: CallbackFailure) -> HostError {
    HostError::Refused(failure.message)
}

/// A pending request. Dropping it notifies work that a callback left running.
#[derive(Default)]
struct PendingRequest(CancellationToken);

impl PendingRequest {
    fn cancel(&self) -> CancellationToken {
        self.0.clone()
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
