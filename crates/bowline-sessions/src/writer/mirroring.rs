//! What a mirror of a transcript is handed, and when.

use std::path::PathBuf;

use bowline_protocol::RawJson;

use super::TranscriptWriter;

/// Whether somebody mirrors the transcript, and when they are handed its lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mirroring {
    /// Nobody does.
    #[default]
    No,
    /// When the answer that they are part of has ended, so that they say how.
    Ended,
    /// With the flush: for who must have them before anybody hears of them.
    AtOnce,
}

/// The lines of one flush, for whoever mirrors the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorBatch {
    /// The transcript.
    pub file_path: PathBuf,
    /// Its new lines.
    pub entries: Vec<RawJson>,
}

impl TranscriptWriter {
    /// The lines flushed since the last call, if somebody [mirrors](Mirroring) them. A mirror
    /// also gets what could not be written here. Where lines of an answer that is under way wait for
    /// its end, so does what stands behind them.
    pub fn take_mirror(&mut self) -> Option<MirrorBatch> {
        let waits = self.mirroring == Mirroring::Ended && self.open.is_some();
        if self.pending_lines > 0 || waits {
            return None;
        }
        let entries = std::mem::take(&mut self.mirrored);
        (!entries.is_empty()).then(|| MirrorBatch { file_path: self.path.clone(), entries })
    }
}
