//! What a word of a command names on disk: a known location, or something only the running shell knows.

use super::location::Location;

/// A file that a word of a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// It is here.
    Known(Location),
    /// Only the running shell can tell.
    Unknown(String),
}

impl Place {
    /// Its location, if it is known.
    pub(super) fn location(&self) -> Option<&Location> {
        match self {
            Self::Known(location) => Some(location),
            Self::Unknown(_) => None,
        }
    }
}
