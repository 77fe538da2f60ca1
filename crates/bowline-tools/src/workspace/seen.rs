//! Files that a conversation has seen, so that concurrent changes are not overwritten.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    time::SystemTime,
};

use parking_lot::Mutex;

/// The files of one conversation, by absolute path.
#[derive(Debug, Default)]
pub struct SeenFiles(Mutex<HashMap<PathBuf, SeenFile>>);

/// In which state a file was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenFile {
    /// When it had last been changed.
    pub modified: Option<SystemTime>,
    /// Fingerprint of its bytes; unknown for files seen in an earlier life of the session.
    content: Option<u64>,
    /// Whether the model saw only a part.
    pub partial: bool,
}

impl SeenFile {
    /// A file whose bytes are known.
    pub fn new(bytes: &[u8], modified: Option<SystemTime>) -> Self {
        Self { modified, content: Some(fingerprint(bytes)), partial: false }
    }

    /// Only a part of it was shown.
    #[must_use]
    pub fn partial(mut self, partial: bool) -> Self {
        self.partial = partial;
        self
    }

    /// Whether the file is still as it was seen. Its content decides; the time only where the
    /// content is unknown.
    pub fn is_current(&self, bytes: &[u8], modified: Option<SystemTime>) -> bool {
        match self.content {
            Some(seen) => seen == fingerprint(bytes),
            None => self.modified == modified,
        }
    }
}

impl SeenFiles {
    /// The state in which the file was last seen.
    pub fn get(&self, path: &Path) -> Option<SeenFile> {
        self.0.lock().get(path).copied()
    }

    /// Remembers what was shown or written.
    pub fn record(&self, path: impl Into<PathBuf>, seen: SeenFile) {
        self.0.lock().insert(path.into(), seen);
    }

    /// Counts a file as seen as it was at that time, without reading it.
    pub fn seed(&self, path: impl Into<PathBuf>, modified: SystemTime) {
        let seen = SeenFile { modified: Some(modified), content: None, partial: false };
        self.record(path, seen);
    }

    /// Forgets everything, as after the conversation was compacted or cleared.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// All of them.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.0.lock().keys().cloned().collect()
    }
}

fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
