//! Control frames: recognized by their leading `type`, parsed once, serialized whole.

use std::borrow::Cow;

use bowline_protocol::{Extra, Failure, Head, PendingRequest, RawJson, RequestId, Success};
use serde::{Deserialize, Serialize};

/// Kinds of lines that a session distinguishes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Anything that is not control, readable or not.
    Message,
    Request,
    Response,
    Cancellation,
    KeepAlive,
}

impl Kind {
    /// Reads as little of a line as possible. The usual line begins with its type.
    pub(crate) fn of(line: &str) -> Self {
        match leading_type(line) {
            Some(kind) => Self::named(kind),
            None => Head::read(line).map_or(Self::Message, |head| Self::named(&head.kind)),
        }
    }

    fn named(kind: &str) -> Self {
        match kind {
            "control_request" => Self::Request,
            "control_response" => Self::Response,
            "control_cancel_request" => Self::Cancellation,
            "keep_alive" => Self::KeepAlive,
            _ => Self::Message,
        }
    }
}

/// The `type` of an object that begins with it, without escapes.
fn leading_type(line: &str) -> Option<&str> {
    fn after<'a>(text: &'a str, token: &str) -> Option<&'a str> {
        text.trim_ascii_start().strip_prefix(token)
    }

    let rest = after(after(after(after(line, "{")?, "\"type\"")?, ":")?, "\"")?;
    let end = memchr::memchr2(b'"', b'\\', rest.as_bytes())?;
    (rest.as_bytes()[end] == b'"').then(|| &rest[..end])
}

/// A request from the other end.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Request {
    /// The id of the request, which the response repeats.
    #[serde(rename = "request_id")]
    pub id: RequestId,
    /// The request itself.
    #[serde(rename = "request")]
    pub body: RawJson,
}

/// A response as it arrives.
///
/// Responses may be large, so this parses the line in one pass, where envelope and outcome one
/// after the other would take two.
#[derive(Deserialize)]
pub(crate) struct IncomingResponse<'a> {
    #[serde(borrow)]
    response: ResponseBody<'a>,
}

#[derive(Deserialize)]
struct ResponseBody<'a> {
    #[serde(borrow)]
    subtype: Cow<'a, str>,
    request_id: RequestId,
    response: Option<RawJson>,
    error: Option<String>,
    error_code: Option<String>,
    pending_permission_requests: Option<Vec<PendingRequest>>,
    pending_user_dialog_requests: Option<Vec<PendingRequest>>,
    pending_elicitation_requests: Option<Vec<PendingRequest>>,
    #[serde(flatten)]
    extra: Extra,
}

impl IncomingResponse<'_> {
    pub(crate) fn into_outcome(self) -> (RequestId, Result<Success, Failure>) {
        let body = self.response;
        let id = body.request_id.clone();
        if body.subtype == "success" {
            let success = Success {
                request_id: body.request_id,
                response: body.response,
                pending_permission_requests: body.pending_permission_requests,
                pending_user_dialog_requests: body.pending_user_dialog_requests,
                pending_elicitation_requests: body.pending_elicitation_requests,
                extra: body.extra,
            };
            return (id, Ok(success));
        }
        let unknown = || format!("unknown outcome `{}`", body.subtype);
        let failure = Failure {
            request_id: body.request_id,
            error: body.error.unwrap_or_else(unknown),
            error_code: body.error_code,
            pending_permission_requests: body.pending_permission_requests,
            pending_user_dialog_requests: body.pending_user_dialog_requests,
            pending_elicitation_requests: body.pending_elicitation_requests,
            extra: body.extra,
        };
        (id, Err(failure))
    }
}

/// A cancellation as it arrives.
#[derive(Deserialize)]
pub(crate) struct Cancellation {
    pub(crate) request_id: RequestId,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "control_request")]
struct OutgoingRequest<'a, T> {
    request_id: &'a RequestId,
    request: &'a T,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "control_response")]
struct OutgoingResponse {
    response: Outcome,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "control_cancel_request")]
struct OutgoingCancellation<'a> {
    request_id: &'a RequestId,
}

#[derive(Serialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
enum Outcome {
    Success(Success),
    Error(Failure),
}

pub(crate) fn request(id: &RequestId, request: &impl Serialize) -> serde_json::Result<String> {
    line(&OutgoingRequest { request_id: id, request })
}

/// A response; without a `request_id` if the request had none.
pub(crate) fn response(id: Option<RequestId>, outcome: Result<Success, Failure>) -> String {
    let is_anonymous = id.is_none();
    let request_id = id.unwrap_or_default();
    let response = match outcome {
        Ok(success) => Outcome::Success(Success { request_id, ..success }),
        Err(failure) => Outcome::Error(Failure { request_id, ..failure }),
    };
    let response = OutgoingResponse { response };
    let written = match is_anonymous {
        true => serde_json::to_value(response).and_then(|mut value| {
            if let Some(body) = value["response"].as_object_mut() {
                body.remove("request_id");
            }
            line(&value)
        }),
        false => line(&response),
    };
    written.expect("an outcome always serializes")
}

pub(crate) fn cancellation(id: &RequestId) -> String {
    line(&OutgoingCancellation { request_id: id }).expect("an id always serializes")
}

/// Writes a value as one line, without its end.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value).map(one_line)
}

/// Makes JSON one line for every reader.
///
/// Raw values may contain newlines between tokens, where a space is equivalent. Some readers also end a line at U+2028 or U+2029, which JSON allows
/// inside strings, so those are escaped.
pub(crate) fn one_line(mut json: String) -> String {
    if memchr::memchr2(b'\n', b'\r', json.as_bytes()).is_some() {
        json = json.replace(['\n', '\r'], " ");
    }
    for (separator, escape) in [("\u{2028}", r"\u2028"), ("\u{2029}", r"\u2029")] {
        if memchr::memmem::find(json.as_bytes(), separator.as_bytes()).is_some() {
            json = json.replace(separator, escape);
        }
    }
    json
}
