//! Control frames: told apart from messages by their first bytes, read once, written whole.

use std::borrow::Cow;

use bowline_protocol::{Extra, Failure, Head, PendingRequest, RawJson, RequestId, Success};
use serde::{Deserialize, Serialize};

/// What a line is, as far as a session cares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Anything that is not control, readable or not.
    Message,
    Request,
    Response,
    Withdrawal,
    KeepAlive,
}

impl Kind {
    /// Reads as little of a line as it takes. The usual line begins with its type.
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
            "control_cancel_request" => Self::Withdrawal,
            "keep_alive" => Self::KeepAlive,
            _ => Self::Message,
        }
    }
}

/// The `type` of an object that begins with it and spells it without escapes.
fn leading_type(line: &str) -> Option<&str> {
    fn after<'a>(text: &'a str, token: &str) -> Option<&'a str> {
        text.trim_ascii_start().strip_prefix(token)
    }

    let rest = after(after(after(after(line, "{")?, "\"type\"")?, ":")?, "\"")?;
    let end = memchr::memchr2(b'"', b'\\', rest.as_bytes())?;
    (rest.as_bytes()[end] == b'"').then(|| &rest[..end])
}

/// A question from the other end.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Request {
    /// Names the question; the answer bears it too.
    #[serde(rename = "request_id")]
    pub id: RequestId,
    /// What is asked.
    #[serde(rename = "request")]
    pub body: RawJson,
}

/// An answer as it arrives.
///
/// Answers may be large, so this reads the line in one pass, where reading envelope
/// and outcome one after the other would take two.
#[derive(Deserialize)]
pub(crate) struct Response<'a> {
    #[serde(borrow)]
    response: Answer<'a>,
}

#[derive(Deserialize)]
struct Answer<'a> {
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

impl Response<'_> {
    pub(crate) fn into_outcome(self) -> (RequestId, Result<Success, Failure>) {
        let answer = self.response;
        let id = answer.request_id.clone();
        if answer.subtype == "success" {
            let success = Success {
                request_id: answer.request_id,
                response: answer.response,
                pending_permission_requests: answer.pending_permission_requests,
                pending_user_dialog_requests: answer.pending_user_dialog_requests,
                pending_elicitation_requests: answer.pending_elicitation_requests,
                extra: answer.extra,
            };
            return (id, Ok(success));
        }
        let unknown = || format!("unknown outcome `{}`", answer.subtype);
        let failure = Failure {
            request_id: answer.request_id,
            error: answer.error.unwrap_or_else(unknown),
            error_code: answer.error_code,
            pending_permission_requests: answer.pending_permission_requests,
            pending_user_dialog_requests: answer.pending_user_dialog_requests,
            pending_elicitation_requests: answer.pending_elicitation_requests,
            extra: answer.extra,
        };
        (id, Err(failure))
    }
}

/// A question taken back, as it arrives.
#[derive(Deserialize)]
pub(crate) struct Withdrawal {
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
struct OutgoingWithdrawal<'a> {
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

pub(crate) fn response(id: RequestId, outcome: Result<Success, Failure>) -> String {
    let response = match outcome {
        Ok(success) => Outcome::Success(Success { request_id: id, ..success }),
        Err(failure) => Outcome::Error(Failure { request_id: id, ..failure }),
    };
    line(&OutgoingResponse { response }).expect("an outcome always serializes")
}

pub(crate) fn withdrawal(id: &RequestId) -> String {
    line(&OutgoingWithdrawal { request_id: id }).expect("an id always serializes")
}

/// Writes a value as one line, without its end.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value).map(one_line)
}

/// Makes sure that JSON is one line for every reader.
///
/// Raw values may have been laid out over several lines; between tokens a space does
/// as well. Some readers also end a line at U+2028 or U+2029, which JSON allows
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
