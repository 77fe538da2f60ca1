//! Mirror of an agent's transcript in a store.
//!
//! The agent reports what it wrote; the reports are taken out of the messages, batched, and given to
//! one task that appends them in order. Before a result is handed on, everything before it is in the
//! store, or the program has received an error that it is not.

use std::{
    collections::VecDeque,
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_protocol::{Message, MirrorErrorMessage, MirrorKey, TranscriptMirrorMessage};
use bowline_sessions::{
    MirrorBatch, MirrorBuffer, MirrorFlush, RETRY_DELAYS, SEND_TIMEOUT, SessionStore, StoreBatch,
    StoreKey, new_id,
};
use futures_util::FutureExt;
use parking_lot::{Mutex, MutexGuard};
use tokio::{
    sync::{mpsc, oneshot},
    time,
};
use tokio_util::task::AbortOnDropHandle;

use crate::{callback::panic_text, error::Error, message_queue::MessageQueue};

/// Batches that wait to be appended. A batch is up to a megabyte, and a store that is so
/// slow should slow the reading of messages down rather than fill memory.
const ROOM: usize = 8;

/// The mirror of one session.
pub(super) struct Mirror {
    flush: MirrorFlush,
    gathered: Mutex<Gathered>,
    work: mpsc::Sender<MirrorTask>,
    problems: Problems,
    /// Dropping it discards what is not yet in the store.
    _worker: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct Gathered {
    /// Made with the first report, which shows where transcripts are.
    buffer: Option<MirrorBuffer>,
    /// Batches on their way to the worker.
    drained: VecDeque<StoreBatch>,
    /// What waits until all before it is in the store: results, and all that was unread when
    /// the session was closed.
    held: MessageQueue,
}

/// Errors that are still to be reported to the program.
type Problems = Arc<Mutex<VecDeque<MirrorErrorMessage>>>;

enum MirrorTask {
    Append(StoreBatch),
    /// Signals when everything before it is done.
    Flush(oneshot::Sender<()>),
}

impl Mirror {
    pub(super) fn new(store: Arc<dyn SessionStore>, flush: MirrorFlush) -> Self {
        let (work, orders) = mpsc::channel(ROOM);
        let problems = Problems::default();
        let worker = tokio::spawn(append_all(store, orders, problems.clone()));
        Self {
            flush,
            gathered: Mutex::default(),
            work,
            problems,
            _worker: AbortOnDropHandle::new(worker),
        }
    }

    /// What the program gets before anything else: problems, and a result that was held back.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(super) async fn ready(&self) -> Option<Result<Message, Error>> {
        if !self.gathered().held.is_empty() {
            self.settle().await;
        } else {
            self.hand_over().await;
        }
        if let Some(problem) = self.problems.lock().pop_front() {
            return Some(Ok(problem.into()));
        }
        self.gathered().held.try_next()
    }

    /// Takes what is ours, and holds a result back; hands everything else on.
    pub(super) fn pass(&self, message: Message) -> Option<Message> {
        match message {
            Message::TranscriptMirror(report) => {
                self.gather(*report);
                None
            }
            Message::Result(_) => {
                self.gathered().held.push(Ok(message));
                None
            }
            message => Some(message),
        }
    }

    /// Takes mirror reports out, and keeps everything else for a later reader.
    pub(super) fn keep(&self, received: Result<Message, Error>) {
        let rest = match received {
            Ok(message) => self.pass(message).map(Ok),
            error => Some(error),
        };
        if let Some(rest) = rest {
            self.gathered().held.push(rest);
        }
    }

    /// Waits until all that was reported is in the store, or given up.
    pub(super) async fn settle(&self) {
        {
            let mut gathered = self.gathered();
            if let Some(buffer) = &mut gathered.buffer {
                let drained = drain(buffer);
                gathered.drained.extend(drained);
            }
        }
        self.hand_over().await;
        let (flushed, done) = oneshot::channel();
        if self.work.send(MirrorTask::Flush(flushed)).await.is_ok() {
            done.await.ok();
        }
    }

    fn gather(&self, report: TranscriptMirrorMessage) {
        let mut gathered = self.gathered();
        let file_path = PathBuf::from(report.file_path);
        let buffer = gathered.buffer.get_or_insert_with(|| {
            MirrorBuffer::new(projects_above(&file_path).unwrap_or(Path::new("")), self.flush)
        });
        let full = buffer.push(MirrorBatch { file_path, entries: report.entries });
        if full {
            let drained = drain(buffer);
            gathered.drained.extend(drained);
        }
    }

    /// Gives drained batches to the worker, one by one as there is room.
    async fn hand_over(&self) {
        while !self.gathered().drained.is_empty() {
            let Ok(room) = self.work.reserve().await else { return };
            let Some(batch) = self.gathered().drained.pop_front() else { return };
            room.send(MirrorTask::Append(batch));
        }
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock()
    }
}

fn drain(buffer: &mut MirrorBuffer) -> Vec<StoreBatch> {
    let drained = buffer.drain();
    for file in drained.strays {
        tracing::warn!(file = %file.display(), "a transcript outside the projects is not mirrored");
    }
    drained.batches
}

/// The folder of all projects that a transcript is in.
fn projects_above(transcript: &Path) -> Option<&Path> {
    transcript
        .ancestors()
        .skip(1)
        .find(|folder| folder.file_name().is_some_and(|it| it == "projects"))
}

async fn append_all(
    store: Arc<dyn SessionStore>,
    mut orders: mpsc::Receiver<MirrorTask>,
    problems: Problems,
) {
    while let Some(work) = orders.recv().await {
        match work {
            MirrorTask::Flush(done) => drop(done.send(())),
            MirrorTask::Append(batch) => {
                if let Err(error) = append(&*store, &batch).await {
                    problems.lock().push_back(problem(batch.key, error));
                }
            }
        }
    }
}

/// Appends a batch. A failure is retried, a store that does not respond in time is not: the batch
/// may still arrive. Neither is one that panics: the state of the batch is unknown.
async fn append(store: &dyn SessionStore, batch: &StoreBatch) -> Result<(), String> {
    let mut waits = RETRY_DELAYS.iter();
    loop {
        let sent = async { store.append(&batch.key, batch.entries.clone()).await };
        let sent = AssertUnwindSafe(sent).catch_unwind();
        match time::timeout(SEND_TIMEOUT, sent).await {
            Err(_) => return Err(format!("the store did not respond within {SEND_TIMEOUT:?}")),
            Ok(Err(panic)) => return Err(format!("the store panicked: {}", panic_text(&*panic))),
            Ok(Ok(Ok(()))) => return Ok(()),
            Ok(Ok(Err(error))) => match waits.next() {
                Some(wait) => time::sleep(*wait).await,
                None => return Err(error.to_string()),
            },
        }
    }
}

fn problem(key: StoreKey, error: String) -> MirrorErrorMessage {
    let StoreKey { project_key, session_id, subpath } = key;
    let uuid = new_id().0.into();
    let key =
        MirrorKey { project_key, session_id: session_id.clone(), subpath, ..MirrorKey::default() };
    MirrorErrorMessage { error, key, uuid, session_id, ..MirrorErrorMessage::default() }
}
