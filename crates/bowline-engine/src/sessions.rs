//! Source of sessions, for doors that open more than one.

use bowline_protocol::SessionId;

use crate::config::SessionConfig;

/// Sets sessions up, each as the user's settings want it.
pub trait Sessions: Send + Sync + 'static {
    /// How the session that is asked for is set up. Files may be read, nothing is started.
    fn open(&self, request: SessionRequest) -> Result<SessionConfig, OpenError>;
}

/// Which session a client asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionRequest {
    /// The session to go on with; `None` for a new one.
    pub resume: Option<SessionId>,
}

impl SessionRequest {
    /// A new session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes on with a session.
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
    /// Something is wrong with the settings, or with the disk.
    #[error("{0}")]
    Other(String),
}
