//! Requests to servers, and their errors.

use std::time::Duration;

use bowline_protocol::ToolUseId;
use serde_json::{Map, Value};

use crate::login::Wanted;

/// A request to a server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Request {
    ListTools { cursor: Option<String> },
    ListPrompts { cursor: Option<String> },
    ListResources { cursor: Option<String> },
    ReadResource { uri: String },
    GetPrompt { name: String, arguments: Map<String, Value> },
    CallTool { name: String, arguments: Map<String, Value>, tool_use_id: Option<ToolUseId> },
}

/// The key of `_meta` for the id of the model's call.
pub(crate) const TOOL_USE_ID: &str = "claudecode/toolUseId";

impl Request {
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::ListTools { .. } => "tools/list",
            Self::ListPrompts { .. } => "prompts/list",
            Self::ListResources { .. } => "resources/list",
            Self::ReadResource { .. } => "resources/read",
            Self::GetPrompt { .. } => "prompts/get",
            Self::CallTool { .. } => "tools/call",
        }
    }
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestError {
    /// The server responded with an error.
    #[error("{message}")]
    Refused { code: i64, message: String },
    /// The connection ended before the response arrived.
    #[error("Connection closed")]
    Closed,
    /// The request could not be sent: the server is gone.
    #[error("{0}")]
    Lost(String),
    /// The request could not be sent this time, or its response is invalid.
    #[error("{0}")]
    Undelivered(String),
    /// The server requires a login, or one with more scopes.
    #[error("the server requires a login{}", more(.0))]
    Unauthorized(Wanted),
    /// No response within the timeout.
    #[error("no response after {} s", .0.as_secs_f64())]
    Timeout(Duration),
}

/// The missing scopes, in words.
fn more(wanted: &Wanted) -> String {
    match wanted.scopes.as_slice() {
        [] => String::new(),
        scopes => format!(" with more scopes ({})", scopes.join(" ")),
    }
}
