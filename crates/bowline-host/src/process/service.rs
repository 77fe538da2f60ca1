//! The agent's questions as they come over the wire.

use std::sync::Arc;

use bowline_peer::{Fault, Request, Service};
use bowline_protocol::{AgentRequest, Failure, McpMessageResponse, RawJson, Success};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    Error,
    callback::{Callbacks, Refusal},
    error::beginning,
};

/// Gives the agent's questions to our callbacks.
pub(super) struct HostService {
    pub(super) callbacks: Arc<Callbacks>,
    /// Fires when the agent is gone, so that no callback works for nobody.
    pub(super) gone: CancellationToken,
    /// Lines that could not be read. More than there is room for are only logged.
    pub(super) faults: mpsc::Sender<Error>,
}

impl Service for HostService {
    async fn request(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> Result<Success, Failure> {
        let asked = AgentRequest::parse(request.body.get())
            .map_err(|error| failure(error.to_string(), None))?;
        // A callback is dropped with its question; what it left running hears of it.
        let token = cancel.child_token();
        let _stop = token.clone().drop_guard();
        tokio::select! {
            answer = self.answer(asked, token) => answer,
            () = cancel.cancelled() => Err(failure("withdrawn".to_owned(), None)),
            () = self.gone.cancelled() => Err(failure("the session has ended".to_owned(), None)),
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
        cancel: CancellationToken,
    ) -> Result<Success, Failure> {
        let callbacks = &self.callbacks;
        match asked {
            AgentRequest::CanUseTool(question) => {
                success(callbacks.can_use_tool(question, cancel).await)
            }
            AgentRequest::HookCallback(call) => success(callbacks.hook(call, cancel).await),
            AgentRequest::McpMessage(message) => {
                let answer = callbacks.mcp_message(message, cancel).await;
                success(answer.map(|mcp_response| McpMessageResponse {
                    mcp_response,
                    ..McpMessageResponse::default()
                }))
            }
            AgentRequest::Elicitation(question) => {
                success(callbacks.elicit(question, cancel).await)
            }
            other => Err(failure(
                format!("Unsupported control request subtype: {}", subtype(&other)),
                Some("unsupported_request".to_owned()),
            )),
        }
    }
}

fn success(answer: Result<impl Serialize, Refusal>) -> Result<Success, Failure> {
    let answer = answer.map_err(|Refusal(why)| failure(why, None))?;
    let response =
        RawJson::from_value(&answer).map_err(|error| failure(error.to_string(), None))?;
    Ok(Success { response: Some(response), ..Success::default() })
}

fn failure(error: String, error_code: Option<String>) -> Failure {
    Failure { error, error_code, ..Failure::default() }
}

fn subtype(asked: &AgentRequest) -> String {
    let asked = serde_json::to_value(asked).unwrap_or_default();
    asked["subtype"].as_str().unwrap_or("none").to_owned()
}
