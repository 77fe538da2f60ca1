//! The lines of a conversation, parsed in order; by several threads when there are many.

use std::{
    io,
    path::Path,
    sync::mpsc::{self, Receiver, SyncSender},
    thread,
};

use bowline_protocol::{Content, MessageUuid};
use serde::Deserialize;

use super::walk::LiveLine;
use crate::{
    head::Kind,
    line::{AttachmentLine, SystemLine},
    scan::LineReader,
};

/// A line of the conversation, parsed.
pub(super) enum Parsed {
    User(MessageLine),
    Assistant(MessageLine),
    Attachment(Box<AttachmentLine>),
    Boundary(Box<SystemLine>),
    /// Nothing for the conversation, or a line that does not fit: a hole that the fold closes.
    Nothing,
}

/// What is needed of a line of the conversation; the rest of it is skipped.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageLine {
    #[serde(default)]
    pub(super) uuid: MessageUuid,
    pub(super) message: MessageBody,
    #[serde(default)]
    pub(super) is_meta: bool,
    #[serde(default)]
    pub(super) is_compact_summary: bool,
    #[serde(default)]
    pub(super) is_api_error_message: bool,
    #[serde(default)]
    pub(super) queue_transcript_only: bool,
    #[serde(default)]
    pub(super) permission_mode: Option<String>,
    #[serde(default)]
    pub(super) supersedes_uuids: Vec<MessageUuid>,
}

#[derive(Deserialize)]
pub(super) struct MessageBody {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) model: Option<String>,
    pub(super) content: Content,
}

impl Parsed {
    fn read(kind: Kind, line: &[u8]) -> Self {
        match kind {
            Kind::User => serde_json::from_slice(line).map(Self::User),
            Kind::Assistant => serde_json::from_slice(line).map(Self::Assistant),
            Kind::Attachment => serde_json::from_slice(line).map(Self::Attachment),
            Kind::CompactBoundary => serde_json::from_slice(line).map(Self::Boundary),
            _ => Ok(Self::Nothing),
        }
        .unwrap_or(Self::Nothing)
    }
}

/// Below this, starting threads takes longer than parsing.
const WORTH_THREADS: usize = 4_000;

/// How many lines travel between threads at once: enough that neither waking somebody nor reading
/// a bit of the next batch counts.
const BATCH: usize = 1_024;

/// How many batches may wait. What is parsed and not yet folded is memory twice.
const AHEAD: usize = 2;

/// Hands over the lines one after another.
pub(super) fn each(
    path: &Path,
    lines: &[LiveLine],
    mut take: impl FnMut(Parsed),
) -> io::Result<()> {
    if lines.len() < WORTH_THREADS {
        let mut reader = LineReader::open(path)?;
        for line in lines {
            take(Parsed::read(line.kind, reader.line(line.span)?));
        }
        return Ok(());
    }
    let workers = super::threads();
    thread::scope(|scope| {
        // Each takes every so manieth batch, so that they stay beside each other in the file.
        let start = |first: usize| -> Receiver<io::Result<Vec<Parsed>>> {
            let (sender, receiver) = mpsc::sync_channel(AHEAD);
            let batches = lines.chunks(BATCH).skip(first).step_by(workers);
            scope.spawn(move || work(path, batches, &sender));
            receiver
        };
        let parsed: Vec<_> = (0..workers).map(start).collect();
        for (number, _) in lines.chunks(BATCH).enumerate() {
            // One that is gone has panicked, which goes on where the threads are joined.
            let Ok(batch) = parsed[number % workers].recv() else { break };
            batch?.into_iter().for_each(&mut take);
        }
        Ok(())
    })
}

/// Parses batches until nobody wants them any more.
fn work<'a>(
    path: &Path,
    batches: impl Iterator<Item = &'a [LiveLine]>,
    parsed: &SyncSender<io::Result<Vec<Parsed>>>,
) {
    let mut reader = match LineReader::open(path) {
        Ok(reader) => reader,
        Err(error) => return drop(parsed.send(Err(error))),
    };
    for batch in batches {
        let lines = batch.iter();
        let lines = lines.map(|line| Ok(Parsed::read(line.kind, reader.line(line.span)?)));
        if parsed.send(lines.collect()).is_err() {
            return;
        }
    }
}
