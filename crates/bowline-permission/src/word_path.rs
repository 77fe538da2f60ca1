//! Path that a word of a command names: a known location, or one that only the running shell knows.

use super::location::Location;

/// A file that a word of a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WordPath {
    /// It is here.
    Known(Location),
    /// Only the running shell can tell.
    Unknown(String),
}

impl WordPath {
    /// Its location, if it is known.
    pub(super) fn location(&self) -> Option<&Location> {
        match self {
            Self::Known(location) => Some(location),
            Self::Unknown(_) => None,
        }
    }
}
