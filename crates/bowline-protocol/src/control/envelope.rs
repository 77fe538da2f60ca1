//! Envelopes of the control plane: request, response, cancellation, and two signals.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, id::RequestId, raw::RawJson, wire::read_by_tag};

/// A request, in either direction. Each gets exactly one [`ControlResponse`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlRequest<R = RawJson> {
    /// Unique among the sender's pending requests; the two directions do not share ids.
    pub request_id: RequestId,
    /// The body.
    pub request: R,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The response to a [`ControlRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlResponse {
    /// Outcome.
    pub response: Outcome,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Outcome of a request.
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

/// Outcome of a request that succeeded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Success {
    /// The request.
    pub request_id: RequestId,
    /// The result; absent for a mere acknowledgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<RawJson>,
    /// In the response to `initialize`: pending permission requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_permission_requests: Option<Vec<PendingRequest>>,
    /// In the response to `initialize`: pending dialogs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_user_dialog_requests: Option<Vec<PendingRequest>>,
    /// In the response to `initialize`: pending elicitations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_elicitation_requests: Option<Vec<PendingRequest>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Outcome of a request that failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The request.
    pub request_id: RequestId,
    /// Error text.
    pub error: String,
    /// Error code, as in `unsupported_request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// In the response to `initialize`: pending permission requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_permission_requests: Option<Vec<PendingRequest>>,
    /// In the response to `initialize`: pending dialogs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_user_dialog_requests: Option<Vec<PendingRequest>>,
    /// In the response to `initialize`: pending elicitations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_elicitation_requests: Option<Vec<PendingRequest>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A pending request, listed for a host that reconnects: the whole `control_request`.
pub type PendingRequest = RawJson;

/// Cancellation of a request by its sender.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlCancelRequest {
    /// The request.
    pub request_id: RequestId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Keep-alive signal.
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
