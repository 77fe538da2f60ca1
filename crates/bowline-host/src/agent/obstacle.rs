//! Why a session that had begun cannot go on where it was.

use crate::Error;

/// What stands in the way of a session that is to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// Its agent knows nothing of it: it died before it had saved anything.
    Unknown,
    /// Somebody still works on it.
    Locked,
}

impl Obstacle {
    /// What this error says is in the way, if it is one of these.
    pub(crate) fn of(error: &Error) -> Option<Self> {
        match error {
            // An agent in a process of its own says so to people only.
            Error::Process(end) if end.stderr.contains("No conversation found") => {
                Some(Self::Unknown)
            }
            Error::Process(end) if end.stderr.contains(" is in use by ") => Some(Self::Locked),
            #[cfg(feature = "embedded")]
            Error::Connection { source: Some(cause), .. } => {
                use bowline_sessions::SessionError;

                match cause.downcast_ref::<SessionError>()? {
                    SessionError::NotFound { .. } | SessionError::Empty(_) => Some(Self::Unknown),
                    SessionError::Locked { .. } => Some(Self::Locked),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
