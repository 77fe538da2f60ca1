//! The agent's questions as they come over the wire.

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

/// Unreadable lines that wait to be told of. More are only logged: whoever sees sixteen knows.
const FAULTS: usize = 16;

/// Gives the agent's questions to our responder.
pub(crate) struct HostService {
    responder: Arc<Responder>,
    /// Fires when the agent is gone, so that no callback works for nobody.
    gone: CancellationToken,
    /// Lines that could not be read.
    faults: mpsc::Sender<Error>,
}

impl HostService {
    /// The service, and the lines that it could not read.
    pub(crate) fn new(responder: Arc<Responder>) -> (Self, mpsc::Receiver<Error>) {
        let (faults, told) = mpsc::channel(FAULTS);
        (Self { responder, gone: CancellationToken::new(), faults }, told)
    }
}

impl Service for HostService {
    async fn request(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> Result<Success, Failure> {
        // A callback is dropped with its question; what it left running hears of it.
        let token = cancel.child_token();
        let _stop = token.clone().drop_guard();
        let answer = async {
            let asked = AgentRequest::parse(request.body.get());
            let asked = asked.map_err(|error| CallbackFailure::new(error.to_string()))?;
            self.answer(asked, request.id, token).await
        };
        let answer = tokio::select! {
            answer = answer => answer,
            () = cancel.cancelled() => Err(CallbackFailure::new("withdrawn")),
            () = self.gone.cancelled() => Err(CallbackFailure::new("the session has ended")),
        };
        match answer {
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
    async fn answer(
        &self,
        asked: AgentRequest,
        id: RequestId,
        cancel: CancellationToken,
    ) -> Result<RawJson, CallbackFailure> {
        let responder = &self.responder;
        match asked {
            AgentRequest::CanUseTool(question) => {
                json(&responder.can_use_tool(question, Some(id), cancel).await?)
            }
            AgentRequest::HookCallback(call) => json(&responder.hook(call, cancel).await?),
            AgentRequest::McpMessage(message) => {
                let mcp_response = responder.mcp_message(message, cancel).await?;
                json(&McpMessageResponse { mcp_response, ..McpMessageResponse::default() })
            }
            AgentRequest::Elicitation(question) => json(&responder.elicit(question, cancel).await?),
            AgentRequest::RequestUserDialog(question) => {
                json(&responder.show(question, cancel).await?)
            }
            other => responder.other(&subtype(&other), json(&other)?, cancel).await,
        }
    }
}

fn json(answer: &impl Serialize) -> Result<RawJson, CallbackFailure> {
    RawJson::from_value(answer).map_err(|error| CallbackFailure::new(error.to_string()))
}

fn subtype(asked: &AgentRequest) -> String {
    let asked = serde_json::to_value(asked).unwrap_or_default();
    asked["subtype"].as_str().unwrap_or("none").to_owned()
}
