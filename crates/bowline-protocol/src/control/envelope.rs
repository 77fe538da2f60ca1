//! The envelopes of the control plane: a question, its answer, its withdrawal, and two small signals.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, id::RequestId, raw::RawJson, wire::read_by_tag};

/// A question, in either direction. Every one gets exactly one [`ControlResponse`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlRequest<R = RawJson> {
    /// Unique among the asker's open questions; the two directions do not share ids.
    pub request_id: RequestId,
    /// What is asked.
    pub request: R,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The answer to a [`ControlRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlResponse {
    /// How it went.
    pub response: Outcome,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How a question was answered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "subtype", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// It was done.
    Success(Success),
    /// It was not.
    Error(Failure),
    /// An outcome this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(Outcome, Subtype, { "success" => Success, "error" => Error });

/// A question was answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Success {
    /// The question.
    pub request_id: RequestId,
    /// The answer; absent for a mere acknowledgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<RawJson>,
    /// On the answer to `initialize`: permission questions still open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_permission_requests: Option<Vec<PendingRequest>>,
    /// On the answer to `initialize`: dialogs still open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_user_dialog_requests: Option<Vec<PendingRequest>>,
    /// On the answer to `initialize`: elicitations still open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_elicitation_requests: Option<Vec<PendingRequest>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A question could not be answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The question.
    pub request_id: RequestId,
    /// Why not, for people.
    pub error: String,
    /// Why not, for programs, as in `unsupported_request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// On the answer to `initialize`: permission questions still open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_permission_requests: Option<Vec<PendingRequest>>,
    /// On the answer to `initialize`: dialogs still open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_user_dialog_requests: Option<Vec<PendingRequest>>,
    /// On the answer to `initialize`: elicitations still open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_elicitation_requests: Option<Vec<PendingRequest>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A question that is still open, listed for a host that comes back: the whole `control_request`.
pub type PendingRequest = RawJson;

/// The asker no longer wants an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlCancelRequest {
    /// The question.
    pub request_id: RequestId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Somebody is there. Means nothing else.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeepAlive {
    /// Fields this version does not know (`startup_mark`).
    #[serde(flatten)]
    pub extra: Extra,
}

/// New environment variables for the processes the agent starts from now on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpdateEnvironmentVariables {
    /// Name and value of each.
    pub variables: BTreeMap<String, String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
