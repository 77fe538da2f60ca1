//! Buffer of transcript lines that are copied to a store in batches.
//!
//! Pure: lines go in, batches come out. The owner of the buffer sends them.

use std::{path::PathBuf, time::Duration};

use bowline_protocol::RawJson;

use crate::{
    store::{MOST_PENDING_BYTES, MOST_PENDING_ENTRIES, StoreKey},
    writer::MirrorBatch,
};

/// Backoff: the delays before a failed batch is sent again; then it is dropped.
pub const RETRY_DELAYS: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];
/// Timeout of one batch. It is not retried after that, because it may still arrive.
pub const SEND_TIMEOUT: Duration = Duration::from_secs(60);

/// When buffered entries are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MirrorFlush {
    /// When a turn ends or a batch is full.
    #[default]
    Batched,
    /// At once.
    Eager,
}

/// Transcript lines that have not been sent to a store yet.
#[derive(Debug)]
pub struct MirrorBuffer {
    projects: PathBuf,
    flush: MirrorFlush,
    /// One batch per file, in the order they were first written to.
    pending: Vec<MirrorBatch>,
    entries: usize,
    bytes: usize,
}

/// Entries to append to one transcript of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreBatch {
    /// The transcript.
    pub key: StoreKey,
    /// Its new lines.
    pub entries: Vec<RawJson>,
}

/// Batches to send, and files without a store key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drained {
    /// To be appended in this order.
    pub batches: Vec<StoreBatch>,
    /// Files outside the projects folder: their lines are dropped, which the caller should report.
    pub strays: Vec<PathBuf>,
}

impl MirrorBuffer {
    /// Creates a buffer for the transcripts under a projects folder.
    pub fn new(projects: impl Into<PathBuf>, flush: MirrorFlush) -> Self {
        Self { projects: projects.into(), flush, pending: Vec::new(), entries: 0, bytes: 0 }
    }

    /// Adds lines; returns whether the buffer should be [drained](Self::drain).
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

    /// Removes and returns everything.
    pub fn drain(&mut self) -> Drained {
        (self.entries, self.bytes) = (0, 0);
        let mut drained = Drained::default();
        for MirrorBatch { file_path, entries } in self.pending.drain(..) {
            match StoreKey::of_transcript(&file_path, &self.projects) {
                _ if entries.is_empty() => {}
                Some(key) => drained.batches.push(StoreBatch { key, entries }),
                None => drained.strays.push(file_path),
            }
        }
        drained
    }
}
