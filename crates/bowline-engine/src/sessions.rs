//! Source of sessions, for doors that open more than one.

use bowline_protocol::SessionId;

use crate::config::SessionConfig;

/// Sets up sessions by the user's settings.
pub trait Sessions: Send + Sync + 'static {
    /// The configuration of the requested session. Files may be read, nothing is started.
    fn open(&self, request: SessionRequest) -> Result<SessionConfig, OpenError>;
}

/// A client's request for a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionRequest {
    /// The session to resume; `None` for a new one.
    pub resume: Option<SessionId>,
}

impl SessionRequest {
    /// A new session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Resumes a session.
    pub fn resume(session: impl Into<SessionId>) -> Self {
        Self { resume: Some(session.into()) }
    }
}

/// Why a session cannot be opened, as a message for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No session has that id.
    #[error("there is no session {0}")]
    NotFound(SessionId),
    /// The settings are invalid, or the disk failed.
    #[error("{0}")]
    Other(String),
}
