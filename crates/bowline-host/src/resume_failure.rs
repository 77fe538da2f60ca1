//! Reasons why a session cannot be resumed.

use crate::error::Error;

/// Why a session cannot be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResumeFailure {
    /// Its agent does not know it: it died before it had saved anything.
    Unknown,
    /// Another agent still runs it.
    Locked,
}

impl ResumeFailure {
    /// The reason that an error stands for, if it is one of these.
    pub(crate) fn of(error: &Error) -> Option<Self> {
        match error {
            // An agent in a process reports it on stderr only.
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
