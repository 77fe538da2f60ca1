//! The questions we ask servers, and why one has no answer.

use std::time::Duration;

use bowline_protocol::ToolUseId;
use serde_json::{Map, Value};

use crate::login::Wanted;

/// A question to a server. The answer is the result as MCP has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Request {
    ListTools { cursor: Option<String> },
    ListPrompts { cursor: Option<String> },
    ListResources { cursor: Option<String> },
    ReadResource { uri: String },
    GetPrompt { name: String, arguments: Map<String, Value> },
    CallTool { name: String, arguments: Map<String, Value>, tool_use_id: Option<ToolUseId> },
}

/// Under which key of `_meta` servers find the id of the model's call.
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

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestError {
    /// The server says why.
    #[error("{message}")]
    Refused { code: i64, message: String },
    /// The connection ended before the answer came.
    #[error("Connection closed")]
    Closed,
    /// The question could not be brought to the server, which is gone.
    #[error("{0}")]
    Lost(String),
    /// The question could not be brought to the server this time.
    #[error("{0}")]
    Undelivered(String),
    /// The server wants to know who we are, or somebody with more rights.
    #[error("the server wants a login{}", more(.0))]
    Unauthorized(Wanted),
    /// The server was silent for too long.
    #[error("no answer after {} s", .0.as_secs_f64())]
    Timeout(Duration),
}

/// Which rights are missing, in words.
fn more(wanted: &Wanted) -> String {
    match wanted.scopes.as_slice() {
        [] => String::new(),
        scopes => format!(" with more rights ({})", scopes.join(" ")),
    }
}
