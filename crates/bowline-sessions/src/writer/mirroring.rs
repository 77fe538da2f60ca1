//! Handing of transcript lines to a mirror.

use std::path::PathBuf;

use bowline_protocol::RawJson;

use super::TranscriptWriter;

/// Whether the transcript is mirrored, and when lines are handed out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mirroring {
    /// No mirror.
    #[default]
    No,
    /// When their response has ended, so that they include its end.
    Ended,
    /// With the flush: for mirrors that must have lines before they are emitted.
    AtOnce,
}

/// The lines of one flush, for the mirror.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorBatch {
    /// The transcript.
    pub file_path: PathBuf,
    /// Its new lines.
    pub entries: Vec<RawJson>,
}

impl TranscriptWriter {
    /// The lines flushed since the last call, if they are [mirrored](Mirroring). A mirror
    /// also gets what could not be written here. Where lines of an unfinished response wait for
    /// its end, so do the lines after them.
    pub fn take_mirror(&mut self) -> Option<MirrorBatch> {
        let waits = self.mirroring == Mirroring::Ended && self.open.is_some();
        if self.pending_lines > 0 || waits {
            return None;
        }
        let entries = std::mem::take(&mut self.mirrored);
        (!entries.is_empty()).then(|| MirrorBatch { file_path: self.path.clone(), entries })
    }
}
