//! Errors of sessions.

use std::{io, path::PathBuf};

use bowline_protocol::{MessageUuid, SessionId};

use crate::lock_holder::LockHolder;

/// Error of opening, finding or changing a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Not a UUID.
    #[error("invalid session id {0:?}: it must be a UUID")]
    BadId(String),
    /// There is no such session.
    #[error("no session found for {target:?}{}", candidates(.nearest))]
    NotFound {
        /// What was searched for.
        target: String,
        /// Similar sessions, described, newest first.
        nearest: Vec<String>,
    },
    /// Several sessions match.
    #[error("several sessions match {target:?}{}", candidates(.fitting))]
    Ambiguous {
        /// What was searched for.
        target: String,
        /// The sessions, described, newest first.
        fitting: Vec<String>,
    },
    /// A new session has the id of one that exists.
    #[error("session id {0} is already in use")]
    InUse(SessionId),
    /// Another process writes the session.
    #[error("session {id} is in use by {holder}; end it, or fork the session")]
    Locked {
        /// The session.
        id: SessionId,
        /// The process that writes it.
        holder: LockHolder,
    },
    /// The session has no such message.
    #[error("no message found with message.uuid of: {0}")]
    NoSuchMessage(MessageUuid),
    /// Resuming there does not drop the expected turn.
    #[error("Resume rejected by --resume-drops-turn: {0}")]
    OtherTurn(String),
    /// The session has no message at all.
    #[error("session {0} has no messages")]
    Empty(SessionId),
    /// A title or label with nothing in it.
    #[error("{0} must not be empty")]
    EmptyText(&'static str),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

impl SessionError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

fn candidates(described: &[String]) -> String {
    if described.is_empty() {
        return String::new();
    }
    format!("; sessions here:\n  {}", described.join("\n  "))
}
