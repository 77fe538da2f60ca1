//! Context of a tool call: its ids, its cancellation, its progress reports.

#[cfg(feature = "embedded")]
use std::sync::Arc;

use bowline_protocol::{SessionId, ToolUseId};
use serde::Serialize;
use serde_json::Value;
#[cfg(feature = "embedded")]
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::ServerMessages;

/// The context of a call, for its handler.
///
/// ```
/// use bowline_host::{Progress, Tool, ToolContext};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Files {
///     names: Vec<String>,
/// }
///
/// let copy = Tool::new("copy", "Copies files", async |files: Files, context: ToolContext| {
///     let total = files.names.len() as f64;
///     for (number, name) in files.names.iter().enumerate() {
///         context.progress(Progress::of(number as f64, total).saying(name)).await;
///     }
///     format!("done, in session {:?}", context.session_id)
/// });
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolContext {
    /// The server under which the tool was called.
    pub server: String,
    /// The id of the model's call, if the agent sent it.
    pub tool_use_id: Option<ToolUseId>,
    /// The session, once it is known: from the first message of its first turn, or before that if
    /// the options name it.
    pub session_id: Option<SessionId>,
    /// Fires when the result is no longer wanted. The handler is dropped then; this is for work
    /// that outlives it.
    pub cancel: CancellationToken,
    pub(super) progress: Option<ProgressSink>,
}

/// The progress of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The amount done. It should grow with every report.
    pub done: f64,
    /// The amount to do, if it is known.
    pub total: Option<f64>,
    /// The current step, for people.
    pub message: Option<String>,
}

impl Progress {
    /// This much is done.
    pub fn new(done: f64) -> Self {
        Self { done, total: None, message: None }
    }

    /// This much is done of a total.
    pub fn of(done: f64, total: f64) -> Self {
        Self { total: Some(total), ..Self::new(done) }
    }

    /// Adds the current step, for people.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

/// The destination of one call's progress reports.
#[derive(Debug, Clone)]
pub(super) enum ProgressSink {
    /// Notifications to the agent, under the token of the call.
    Notification { messages: ServerMessages, token: Value },
    /// The time limit of an embedded engine, which each report restarts.
    #[cfg(feature = "embedded")]
    TimeLimit(Arc<Notify>),
}

/// A report as MCP has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    progress_token: &'a Value,
    progress: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl ToolContext {
    /// The context of a call without an agent.
    pub(super) fn detached() -> Self {
        Self {
            server: String::new(),
            tool_use_id: None,
            session_id: None,
            cancel: CancellationToken::new(),
            progress: None,
        }
    }

    /// Reports the progress of the call to the agent (`notifications/progress` of MCP), which
    /// restarts its time limit for the call. An agent that did not request reports gets none.
    ///
    /// Waits while many reports are still on their way.
    pub async fn progress(&self, progress: Progress) {
        match &self.progress {
            Some(ProgressSink::Notification { messages, token }) => {
                let Progress { done, total, message } = progress;
                let report = Report { progress_token: token, progress: done, total, message };
                messages.notify(&self.server, "notifications/progress", &report).await;
            }
            #[cfg(feature = "embedded")]
            Some(ProgressSink::TimeLimit(restart)) => restart.notify_one(),
            None => {}
        }
    }
}
