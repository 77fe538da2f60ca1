//! Sending a copy of a transcript to a store: which store key a file has, and when to send.
//!
//! Pure: frames go in, batches come out. Whoever owns the buffer sends them.

use std::{
    path::{Component, Path, PathBuf},
    time::Duration,
};

use bowline_protocol::RawJson;

use crate::{store::StoreKey, writer::MirrorBatch};

/// More entries than this are not held back.
pub const MOST_PENDING_ENTRIES: usize = 500;
/// More bytes than this are not held back.
pub const MOST_PENDING_BYTES: usize = 1 << 20;
/// The waits before a failed batch is sent again; then it is dropped.
pub const RETRY_WAITS: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];
/// How long one batch may take. Then it is not sent again, because it may still arrive.
pub const SEND_TIME: Duration = Duration::from_secs(60);

/// How long entries may wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MirrorFlush {
    /// Until a turn ends or many have gathered.
    #[default]
    Batched,
    /// Not at all.
    Eager,
}

/// Gathers the lines of transcripts until they are sent to a store.
#[derive(Debug)]
pub struct MirrorBuffer {
    projects: PathBuf,
    flush: MirrorFlush,
    /// One batch per file, in the order they were first written to.
    pending: Vec<MirrorBatch>,
    entries: usize,
    bytes: usize,
}

/// What is to be appended to a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreBatch {
    /// Where.
    pub key: StoreKey,
    /// What.
    pub entries: Vec<RawJson>,
}

/// The batches to send, and the files that no store key fits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drained {
    /// To be appended in this order.
    pub batches: Vec<StoreBatch>,
    /// Files outside the projects' folder: their lines are dropped, and somebody should know.
    pub strays: Vec<PathBuf>,
}

impl MirrorBuffer {
    /// A buffer for the transcripts under a projects' folder.
    pub fn new(projects: impl Into<PathBuf>, flush: MirrorFlush) -> Self {
        Self { projects: projects.into(), flush, pending: Vec::new(), entries: 0, bytes: 0 }
    }

    /// Takes lines in; says whether it is time to [drain](Self::drain).
    #[must_use]
    pub fn push(&mut self, batch: MirrorBatch) -> bool {
        self.entries += batch.entries.len();
        self.bytes += batch.entries.iter().map(|entry| entry.get().len()).sum::<usize>();
        match self.pending.iter_mut().find(|other| other.file_path == batch.file_path) {
            Some(other) => other.entries.extend(batch.entries),
            None => self.pending.push(batch),
        }
        match self.flush {
            MirrorFlush::Eager => self.entries > 0,
            MirrorFlush::Batched => {
                self.entries > MOST_PENDING_ENTRIES || self.bytes > MOST_PENDING_BYTES
            }
        }
    }

    /// Hands everything out.
    pub fn drain(&mut self) -> Drained {
        (self.entries, self.bytes) = (0, 0);
        let mut drained = Drained::default();
        for MirrorBatch { file_path, entries } in self.pending.drain(..) {
            match key_of(&file_path, &self.projects) {
                _ if entries.is_empty() => {}
                Some(key) => drained.batches.push(StoreBatch { key, entries }),
                None => drained.strays.push(file_path),
            }
        }
        drained
    }
}

/// The store key of a transcript; `None` for a file that is none or is elsewhere.
pub fn key_of(transcript: &Path, projects: &Path) -> Option<StoreKey> {
    let parts: Option<Vec<&str>> = transcript
        .strip_prefix(projects)
        .ok()?
        .components()
        .map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect();
    match parts?.as_slice() {
        [project, file] => Some(StoreKey::main(*project, file.strip_suffix(".jsonl")?)),
        [project, session, folders @ .., file] if !folders.is_empty() => {
            let file = file.strip_suffix(".jsonl").unwrap_or(file);
            let subpath: Vec<&str> = folders.iter().copied().chain([file]).collect();
            Some(StoreKey::main(*project, *session).with_subpath(subpath.join("/")))
        }
        _ => None,
    }
}
