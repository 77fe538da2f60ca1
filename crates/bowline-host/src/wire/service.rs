//! The agent's requests over a link of lines.

use std::sync::Arc;

use bowline_peer::{Fault, Request, Service};
use bowline_protocol::{AgentRequest, Failure, McpMessageResponse, RawJson, RequestId, Success};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    callback::CallbackFailure,
    error::{Error, beginning},
    responder::Responder,
};

/// Unreadable lines that are reported to the reader. More are only logged.
const FAULTS: usize = 16;

/// Passes the agent's requests to the responder.
pub(crate) struct HostService {
    responder: Arc<Responder>,
    /// Fires when the agent has exited, so that its callbacks are dropped.
    gone: CancellationToken,
    /// Lines that could not be read.
    faults: mpsc::Sender<Error>,
}

impl HostService {
    /// The service, and the lines that it could not read.
    pub(crate) fn new(responder: Arc<Responder>) -> (Self, mpsc::Receiver<Error>) {
        let (faults, reported) = mpsc::channel(FAULTS);
        (Self { responder, gone: CancellationToken::new(), faults }, reported)
    }
}

impl Service for HostService {
    async fn request(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> Result<Success, Failure> {
        // A callback is dropped with its request; the token stops what it spawned.
        let token = cancel.child_token();
        let _stop = token.clone().drop_guard();
        let response = async {
            let parsed = AgentRequest::parse(request.body.get());
            let parsed = parsed.map_err(|error| CallbackFailure::new(error.to_string()))?;
            self.respond(parsed, request.id, token).await
        };
        let response = tokio::select! {
            response = response => response,
            () = cancel.cancelled() => Err(CallbackFailure::new("cancelled")),
            () = self.gone.cancelled() => Err(CallbackFailure::new("the session has ended")),
        };
        match response {
            Ok(response) => Ok(Success { response: Some(response), ..Success::default() }),
            Err(CallbackFailure { message, code }) => Err(Failure {
                error: message,
                error_code: code.map(str::to_owned),
                ..Failure::default()
            }),
        }
    }

    async fn end_of_input(&self) {
        self.gone.cancel();
    }

    fn fault(&self, fault: Fault) {
        tracing::warn!(%fault, "a line of the agent cannot be read");
        let line = match &fault {
            Fault::Control { line, .. } => beginning(&line.text),
            _ => String::new(),
        };
        self.faults.try_send(Error::Json { line, source: fault.into() }).ok();
    }
}

impl HostService {
    async fn respond(
        &self,
        request: AgentRequest,
        id: RequestId,
        cancel: CancellationToken,
    ) -> Result<RawJson, CallbackFailure> {
        let responder = &self.responder;
        match request {
            AgentRequest::CanUseTool(request) => {
                json(&responder.can_use_tool(request, Some(id), cancel).await?)
            }
            AgentRequest::HookCallback(call) => json(&responder.hook(call, cancel).await?),
            AgentRequest::McpMessage(message) => {
                let mcp_response = responder.mcp_message(message, cancel).await?;
                json(&McpMessageResponse { mcp_response, ..McpMessageResponse::default() })
            }
            AgentRequest::Elicitation(request) => json(&responder.elicit(request, cancel).await?),
            AgentRequest::RequestUserDialog(request) => {
                json(&responder.show(request, cancel).await?)
            }
            other => responder.other(&subtype(&other), json(&other)?, cancel).await,
        }
    }
}

fn json(response: &impl Serialize) -> Result<RawJson, CallbackFailure> {
    RawJson::from_value(response).map_err(|error| CallbackFailure::new(error.to_string()))
}

fn subtype(request: &AgentRequest) -> String {
    let request = serde_json::to_value(request).unwrap_or_default();
    request["subtype"].as_str().unwrap_or("none").to_owned()
}
