//! States of a session.

use std::fmt;

/// State of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionState {
    /// It waits for a slot among the sessions of its agent.
    Idle,
    /// The agent is started.
    Starting,
    /// The agent works.
    Running,
    /// The agent waits for a tool of this program.
    WaitingToolCall,
    /// The agent waits for this program to decide whether a tool may run. Takes precedence over
    /// [`WaitingToolCall`](Self::WaitingToolCall).
    WaitingPermission,
    /// The agent gets no responses, and its messages are not passed on.
    Paused,
    /// The agent is done, and its result is a success.
    Completed,
    /// The agent failed, or its result is an error.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl SessionState {
    /// Its name, as in `waiting_tool_call`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::WaitingToolCall => "waiting_tool_call",
            Self::WaitingPermission => "waiting_permission",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing follows it.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl fmt::Display for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
