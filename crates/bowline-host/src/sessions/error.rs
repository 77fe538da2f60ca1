//! Errors of saved sessions.

use bowline_sessions::SessionError;

use crate::store::StoreError;

/// Why something could not be done with a session.
///
/// [`code`](Self::code) names the kind with a word that does not change between versions.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionsError {
    /// The session is not there, is in use, or its file cannot be read or written.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The store did not do it.
    #[error("the store failed: {0}")]
    Store(#[from] StoreError),
    /// Sessions of a store belong to a directory, and none was named.
    #[error("sessions in a store are found by their directory: use `for_directory`")]
    NoDirectory,
    /// A store holds transcripts, and the mark of a session that is put aside is not in them.
    #[error("sessions in a store cannot be archived")]
    NotInStore,
    /// The work was not done because this program is ending.
    #[error("the program is ending")]
    Ending,
}

impl SessionsError {
    /// Stable identifier of the kind of error, the same in every version.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Session(error) => match error {
                SessionError::NotFound { .. } => "session_not_found",
                SessionError::Ambiguous { .. } => "session_ambiguous",
                SessionError::InUse(_) | SessionError::Locked { .. } => "session_in_use",
                SessionError::NoSuchMessage(_) => "message_not_found",
                SessionError::Empty(_) => "session_empty",
                SessionError::BadId(_) | SessionError::EmptyText(_) => "invalid",
                SessionError::Io { .. } => "io",
                _ => "session",
            },
            Self::Store(_) => "store",
            Self::NoDirectory => "no_directory",
            Self::NotInStore => "not_in_store",
            Self::Ending => "ending",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_word_of_its_own() {
        let gone = SessionError::NotFound { target: "x".to_owned(), nearest: Vec::new() };
        assert_eq!(SessionsError::from(gone).code(), "session_not_found");
        let odd = SessionError::BadId("x".to_owned());
        assert_eq!(SessionsError::from(odd).code(), "invalid");
        assert_eq!(SessionsError::NoDirectory.code(), "no_directory");
        assert_eq!(SessionsError::NotInStore.code(), "not_in_store");
    }
}
