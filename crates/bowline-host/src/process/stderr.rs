//! Reader of the agent's stderr: always drained, its tail always kept.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::{callback::panic_text, options::StderrCallback};

/// How much of it is kept for errors.
const TAIL: usize = 8 * 1024;

/// A line longer than this is reported in pieces.
const LONGEST_LINE: usize = 64 * 1024;

/// The end of what was written.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&bytes[bytes.len().saturating_sub(TAIL)..]);
        let excess = kept.len().saturating_sub(TAIL);
        kept.drain(..excess);
    }

    pub(super) fn text(&self) -> Arc<str> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into()
    }
}

/// Reads to the end, so that the process never blocks on its stderr, even if the callback panics.
pub(super) async fn read(
    mut stderr: impl AsyncRead + Unpin,
    tail: Tail,
    callback: Option<StderrCallback>,
) {
    let mut chunk = vec![0; 4 * 1024];
    let mut line = Vec::new();
    loop {
        let count = match stderr.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        tail.push(&chunk[..count]);
        let Some(callback) = &callback else { continue };
        for piece in chunk[..count].split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(piece);
            if piece.ends_with(b"\n") || line.len() >= LONGEST_LINE {
                report_line(callback, &mut line);
            }
        }
    }
    if let Some(callback) = callback
        && !line.is_empty()
    {
        report_line(&callback, &mut line);
    }
}

fn report_line(callback: &StderrCallback, line: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(line);
    let outcome = catch_unwind(AssertUnwindSafe(|| callback(text.trim_end_matches(['\n', '\r']))));
    if let Err(panic) = outcome {
        tracing::error!("the callback for stderr panicked: {}", panic_text(&*panic));
    }
    line.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_reach_the_callback_and_the_tail_is_kept() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = lines.clone();
        let callback: StderrCallback =
            Arc::new(move |line| sink.lock().unwrap().push(line.to_owned()));
        let text = format!("{}\none\r\ntwo", "x".repeat(2 * TAIL));
        let tail = Tail::default();
        read(text.as_bytes(), tail.clone(), Some(callback)).await;
        assert_eq!(lines.lock().unwrap()[1..], ["one", "two"]);
        assert_eq!(tail.text().len(), TAIL);
        assert!(tail.text().ends_with("x\none\r\ntwo"));
    }

    #[tokio::test]
    async fn a_callback_that_panics_does_not_stop_the_reading() {
        let lines = Arc::new(Mutex::new(0));
        let count = lines.clone();
        let callback: StderrCallback = Arc::new(move |line| {
            *count.lock().unwrap() += 1;
            assert_ne!(line, "one", "this line panics");
        });
        let tail = Tail::default();
        read("one\ntwo\n".as_bytes(), tail.clone(), Some(callback)).await;
        assert_eq!(*lines.lock().unwrap_or_else(PoisonError::into_inner), 2);
        assert_eq!(&*tail.text(), "one\ntwo\n");
    }
}
