//! HTTP failures as model errors: status, rate limit (`retry-after`), and a message for people.

use std::{
    error::Error,
    time::{Duration, SystemTime},
};

use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::{ErrorKind, ModelError};

/// Error of a request without a response: no connection, or one that broke.
pub(super) fn unreachable(origin: &str, error: reqwest::Error) -> ModelError {
    let cause = root_cause(&error);
    let (kind, message) = if error.is_timeout() {
        (ErrorKind::Timeout, format!("{origin} does not respond: {cause}"))
    } else if error.is_connect() {
        (ErrorKind::Connection, format!("cannot connect to {origin}: {cause}"))
    } else {
        (ErrorKind::Connection, format!("the connection to {origin} broke: {cause}"))
    };
    ModelError::new(kind, message).with_source(error.without_url())
}

/// Error of a server that sends nothing until the timeout.
pub(super) fn silent(origin: &str, waited: Duration) -> ModelError {
    let message = format!("{origin} has been silent for {} s", waited.as_secs_f64());
    ModelError::new(ErrorKind::Timeout, message)
}

/// Error of a connection that broke inside the response.
pub(super) fn cut(origin: &str, error: reqwest::Error) -> ModelError {
    let message = format!("the response of {origin} was cut off: {}", root_cause(&error));
    ModelError::new(ErrorKind::StreamCut, message).with_source(error.without_url())
}

fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// Error body of a server, in any of the usual shapes.
#[derive(Debug, Default)]
pub(crate) struct ErrorText {
    pub(crate) api_type: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) status: Option<u16>,
    pub(crate) request_id: Option<String>,
}

impl ErrorText {
    /// Reads `{"error":{"type","message","code"}}`, `{"error":"text"}`,
    /// `{"message","type","code"}` and `{"detail":"text"}`.
    pub(crate) fn read(json: &Value) -> Self {
        let error = match &json["error"] {
            Value::Null => json,
            error => error,
        };
        let text =
            |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        // A code is more specific than a type, if it is a word.
        let api_type = text(&error["code"]).or_else(|| text(&error["type"]));
        let message = [error, &error["message"], &error["detail"], &json["message"]]
            .into_iter()
            .find_map(text);
        let code = error["code"].as_u64().or_else(|| error["status"].as_u64());
        let status = code.and_then(|code| u16::try_from(code).ok());
        let status = status.filter(|status| (400..600).contains(status));
        Self { api_type, message, status, request_id: text(&json["request_id"]) }
    }
}

/// Error of a response with this status and body.
pub(super) fn refused(status: u16, headers: &HeaderMap, body: &[u8]) -> ModelError {
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(json) => ErrorText::read(&json),
        Err(_) => ErrorText { message: plain_text(body), ..ErrorText::default() },
    };
    let fallback = || match reqwest::StatusCode::from_u16(status) {
        Ok(code) => code.canonical_reason().unwrap_or("unknown error").to_owned(),
        Err(_) => "unknown error".to_owned(),
    };
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    ModelError {
        status: Some(status),
        api_type: text.api_type,
        retry_after: retry_after(headers),
        should_retry: match header("x-should-retry") {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        },
        request_id: request_id(headers).or(text.request_id),
        ..ModelError::new(ErrorKind::Status, text.message.unwrap_or_else(fallback))
    }
}

/// Request id that the server assigned.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
    ["request-id", "x-request-id"].into_iter().find_map(header)
}

/// Length to which an error text that is not JSON is truncated; a proxy's HTML page has
/// nothing of interest after that.
const LONGEST_PLAIN_TEXT: usize = 300;

fn plain_text(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let end = text.char_indices().nth(LONGEST_PLAIN_TEXT).map_or(text.len(), |(end, _)| end);
    if text.is_empty() { None } else { Some(text[..end].to_owned()) }
}

/// Wait that a server requests on a rate limit or overload: milliseconds, seconds, or an HTTP date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok();
    if let Some(millis) = header("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let text = header("retry-after")?;
    if let Some(seconds) = number(text) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text).ok()?;
    date.duration_since(SystemTime::now()).ok()
}
