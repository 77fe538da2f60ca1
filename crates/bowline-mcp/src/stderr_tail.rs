//! Bounded tail of a program's stderr, for error messages.

use std::collections::VecDeque;

use parking_lot::Mutex;

/// How many bytes are kept: enough for a stack trace.
const KEPT: usize = 8 * 1024;

/// The tail of a program's stderr.
#[derive(Debug, Default)]
pub(crate) struct StderrTail(Mutex<VecDeque<u8>>);

impl StderrTail {
    /// The last whole lines.
    pub(crate) fn text(&self) -> String {
        let mut bytes = self.0.lock();
        let cut = bytes.len() >= KEPT;
        let text = String::from_utf8_lossy(bytes.make_contiguous());
        match text.split_once('\n') {
            Some((_, whole)) if cut => whole.trim_end().to_owned(),
            _ => text.trim_end().to_owned(),
        }
    }

    pub(crate) fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock();
        kept.extend(bytes);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }
}
