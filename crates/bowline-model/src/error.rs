//! Errors of model requests, and which of them are worth a retry.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

/// Error of a request, or of the rest of a response.
///
/// Its text is for users; it never holds a key or a header.
#[derive(Debug, Clone)]
pub struct ModelError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// The HTTP status, if there was a response.
    pub status: Option<u16>,
    /// The API's own name for it, as in `overloaded_error`.
    pub api_type: Option<String>,
    /// Error text.
    pub message: String,
    /// Wait that the server requests before a retry (rate limit, overload).
    pub retry_after: Option<Duration>,
    /// Whether the server recommends a retry.
    pub should_retry: Option<bool>,
    /// The server's name for the request.
    pub request_id: Option<String>,
    /// Underlying error.
    pub source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// No connection, or it broke before the response started.
    Connection,
    /// The server was silent for too long.
    Timeout,
    /// The server responded with an error status.
    Status,
    /// The connection was closed before the response was complete.
    StreamCut,
    /// The API reported an error inside the stream.
    Api,
    /// The response is invalid: no events, or not JSON. A retry with
    /// [`Delivery::Whole`](crate::Delivery::Whole) may help.
    Unreadable,
    /// No API key and no server is configured.
    NoCredentials,
    /// The model's name, the configuration or the request cannot work.
    Unsupported,
    /// A script cannot be read.
    Script,
    /// A recording cannot be read, or has no response to this request.
    Replay,
}

impl ModelError {
    /// An error of this kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            status: None,
            api_type: None,
            message: message.into(),
            retry_after: None,
            should_retry: None,
            request_id: None,
            source: None,
        }
    }

    /// Adds what lies beneath.
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Whether the same request may succeed if it is sent again.
    ///
    /// A response of which something was already shown must not simply be requested
    /// for again; that is the caller's to know.
    pub fn is_retryable(&self) -> bool {
        if let Some(should_retry) = self.should_retry {
            return should_retry;
        }
        match self.kind {
            ErrorKind::Connection | ErrorKind::Timeout | ErrorKind::StreamCut => true,
            ErrorKind::Status => self.status.is_some_and(is_retryable_status),
            ErrorKind::Api => match self.status {
                Some(status) => is_retryable_status(status),
                None => self.api_type.as_deref().is_none_or(is_retryable_type),
            },
            ErrorKind::Unreadable
            | ErrorKind::NoCredentials
            | ErrorKind::Unsupported
            | ErrorKind::Script
            | ErrorKind::Replay => false,
        }
    }

    /// Whether the conversation is too long for the model.
    pub fn is_context_overflow(&self) -> bool {
        const OVERFLOW_MESSAGES: [&str; 5] = [
            "prompt is too long",
            "context_length_exceeded",
            "maximum context length",
            "exceeds the available context size",
            "exceed context limit",
        ];
        let refused = matches!(self.status, Some(400 | 413)) || self.kind == ErrorKind::Api;
        let named = self.api_type.as_deref().is_some_and(|name| {
            matches!(name, "context_length_exceeded" | "exceed_context_size_error")
        });
        let message = self.message.to_lowercase();
        refused && (named || OVERFLOW_MESSAGES.iter().any(|phrase| message.contains(phrase)))
    }

    /// Whether a shorter conversation might be taken.
    pub fn is_too_large(&self) -> bool {
        self.status == Some(413) || self.is_context_overflow()
    }

    /// The protocol's word for it, as in the `error` of `api_retry` and assistant messages.
    pub fn category(&self) -> &'static str {
        let by_type = self.api_type.as_deref().and_then(|name| match name {
            "authentication_error" | "permission_error" => Some("authentication_failed"),
            "billing_error" => Some("billing_error"),
            "rate_limit_error" => Some("rate_limit"),
            "overloaded_error" => Some("overloaded"),
            "not_found_error" => Some("model_not_found"),
            "request_too_large" => Some("invalid_request"),
            "api_error" | "timeout_error" => Some("server_error"),
            _ => None,
        });
        let by_status = || match self.status {
            Some(401 | 403) => "authentication_failed",
            Some(402) => "billing_error",
            Some(404) => "model_not_found",
            Some(413) => "invalid_request",
            Some(429) => "rate_limit",
            Some(529) => "overloaded",
            Some(500..) => "server_error",
            _ if self.kind == ErrorKind::NoCredentials => "authentication_failed",
            _ => "unknown",
        };
        by_type.unwrap_or_else(by_status)
    }
}

fn is_retryable_status(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..)
}

fn is_retryable_type(name: &str) -> bool {
    !matches!(
        name,
        "invalid_request_error"
            | "authentication_error"
            | "billing_error"
            | "permission_error"
            | "not_found_error"
            | "request_too_large"
            | "context_length_exceeded"
    )
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = self.status {
            write!(f, "{status} ")?;
        }
        f.write_str(&self.message)
    }
}

impl Error for ModelError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
