//! Problems in settings, which are reported and skipped, and errors, which are fatal.

use std::{fmt, io, path::PathBuf};

use bowline_protocol::UnknownEffort;

use super::Source;

/// A position in a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Something in the settings that could not be used and was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The layer it is in.
    pub source: Source,
    /// The file, if it is one.
    pub path: Option<PathBuf>,
    /// Where in the text, if the text as a whole is not JSON.
    pub position: Option<Position>,
    /// The key whose value does not fit, as in `permissions.allow[2]`.
    pub key: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}", path.display())?,
            None => write!(f, "{}", self.source)?,
        }
        if let Some(Position { line, column }) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        if let Some(key) = &self.key {
            write!(f, ": {key}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Why settings could not be loaded or changed at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file that was named is not there.
    #[error("settings file not found: {}", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// A file is there and cannot be read or written.
    #[error("cannot use settings file {}: {source}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Settings that must not be left out are not JSON, or not an object.
    #[error("invalid settings: {0}")]
    Invalid(Problem),
    /// `--setting-sources` names something else.
    #[error("invalid setting source: {name}. Valid options are: user, project, local")]
    UnknownSource {
        /// What it names.
        name: String,
    },
    /// A change has values of the wrong type. Nothing was applied.
    #[error("invalid settings: {}", join(.0))]
    BadValues(Vec<Problem>),
    /// A change touches keys that this way of changing must not.
    #[error("update_settings keys not allowed: {}", keys.join(", "))]
    KeysNotAllowed {
        /// The keys.
        keys: Vec<String>,
    },
    /// A change changes nothing.
    #[error("update_settings needs a key to write")]
    NothingToUpdate,
    /// A change has a value that is not a string, or clears a key that must have one.
    #[error("update_settings values must be strings, and cannot be cleared: {key}")]
    NotText {
        /// Its key.
        key: String,
    },
    /// A change names an effort that does not exist.
    #[error("update_settings: effortLevel: {0}")]
    NoSuchEffort(#[from] UnknownEffort),
    /// A change names a layer that cannot be written.
    #[error("update_settings source not allowed: {name}")]
    SourceNotAllowed {
        /// What it names.
        name: String,
    },
}

fn join(problems: &[Problem]) -> String {
    let texts = problems.iter().map(|problem| match &problem.key {
        Some(key) => format!("{key}: {}", problem.message),
        None => problem.message.clone(),
    });
    texts.collect::<Vec<_>>().join("; ")
}
