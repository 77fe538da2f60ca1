//! What a host may ask a session, and what it gets.
//!
//! One file per family of requests, as in the protocol crate. Every answer is made
//! here whatever the door, and none waits for the turn that runs.

mod conversation;
mod permission_prompt;

use bowline_model::BoxFuture;
use bowline_protocol::{HostRequest, RawJson};
use serde::Serialize;

use super::Session;
pub(crate) use permission_prompt::ask_prompt_tool;

/// The answer to a host's question.
#[must_use = "some answers have consequences that wait for their delivery"]
pub struct ControlReply {
    /// The answer; `None` for a mere acknowledgement.
    pub result: Result<Option<RawJson>, ControlError>,
    then: Option<BoxFuture<'static, ()>>,
}

/// Why a question was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    /// Why, for people.
    pub message: String,
    /// Why, for programs.
    pub code: Option<String>,
}

impl ControlError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: None }
    }

    pub(crate) fn coded(message: impl Into<String>, code: &str) -> Self {
        Self { message: message.into(), code: Some(code.to_owned()) }
    }

    fn unsupported(subtype: &str) -> Self {
        Self::coded(
            format!("Unsupported control request subtype: {subtype}"),
            "unsupported_request",
        )
    }
}

impl ControlReply {
    /// Done, without a payload.
    pub(crate) fn ack() -> Self {
        Self { result: Ok(None), then: None }
    }

    /// Done, with a payload.
    pub(crate) fn payload(payload: &impl Serialize) -> Self {
        let result = RawJson::from_value(payload);
        Self {
            result: result.map(Some).map_err(|error| ControlError::new(error.to_string())),
            then: None,
        }
    }

    /// What happens once the host has the answer.
    pub(crate) fn then(mut self, then: impl Future<Output = ()> + Send + 'static) -> Self {
        self.then = Some(Box::pin(then));
        self
    }

    /// The host has the answer: what follows from it may happen now.
    pub async fn delivered(self) {
        if let Some(then) = self.then {
            then.await;
        }
    }
}

impl From<ControlError> for ControlReply {
    fn from(error: ControlError) -> Self {
        Self { result: Err(error), then: None }
    }
}

impl std::fmt::Debug for ControlReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ControlReply").field("result", &self.result).finish_non_exhaustive()
    }
}

/// Answers one question.
pub(crate) async fn answer(session: &Session, request: HostRequest) -> ControlReply {
    let shared = &session.shared;
    let answered = match request {
        HostRequest::Initialize(request) => conversation::initialize(shared, request).await,
        HostRequest::Interrupt(request) => conversation::interrupt(shared, request).await,
        HostRequest::SetPermissionMode(request) => {
            conversation::set_permission_mode(shared, request)
        }
        HostRequest::SetModel(request) => conversation::set_model(shared, request).await,
        HostRequest::SetMaxThinkingTokens(request) => {
            conversation::set_max_thinking_tokens(shared, request)
        }
        other => Err(ControlError::unsupported(&subtype(&other))),
    };
    answered.unwrap_or_else(ControlReply::from)
}

/// The subtype of a request that nobody here answers.
fn subtype(request: &HostRequest) -> String {
    let value = serde_json::to_value(request).unwrap_or_default();
    value.get("subtype").and_then(|subtype| subtype.as_str()).unwrap_or_default().to_owned()
}
