//! Queue of lines to write, with one writer and back-pressure on senders.

use std::{collections::VecDeque, io, mem};

use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::link::Sink;

/// Bytes that may be queued before senders have to wait.
const CAPACITY: u32 = 1024 * 1024;

/// Bytes that one write gathers from queued lines.
const WRITE_BATCH: usize = 64 * 1024;

/// Bytes that may be queued beyond [`CAPACITY`] by senders that cannot wait: refusals and
/// cancellations. The session fails if the other end causes this many and reads none of them.
const URGENT_LIMIT: usize = 16 * 1024 * 1024;

/// The session has ended, or our direction of it.
#[derive(Debug)]
pub(crate) struct Closed;

#[derive(Debug)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    /// One permit for each byte that still fits.
    capacity: Semaphore,
    /// The queue has something for the writer, or was closed.
    changed: Notify,
    /// Fires when urgent lines exceed their limit.
    overrun: CancellationToken,
    /// Fires when no more lines are accepted.
    closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<QueuedLine>,
    /// Bytes of queued urgent lines.
    urgent: usize,
    closed: bool,
}

#[derive(Debug)]
struct QueuedLine {
    line: String,
    /// Permits to return after the write; an urgent line has none.
    permits: u32,
}

impl Outbox {
    pub(crate) fn new() -> Self {
        let capacity = Semaphore::new(CAPACITY as usize);
        let (changed, overrun) = (Notify::new(), CancellationToken::new());
        Self {
            queue: Mutex::default(),
            capacity,
            changed,
            overrun,
            closed: CancellationToken::new(),
        }
    }

    /// Queues a line when there is capacity, if it is still `wanted` by then.
    ///
    /// Cancel safety: a line is queued whole or, when the future is dropped, not at all.
    pub(crate) async fn send(
        &self,
        line: String,
        wanted: impl FnOnce() -> bool,
    ) -> Result<(), Closed> {
        // A line longer than the whole capacity waits until it is alone.
        let permits = u32::try_from(line.len()).map_or(CAPACITY, |length| length.min(CAPACITY));
        let permit = self.capacity.acquire_many(permits).await.map_err(|_| Closed)?;
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(Closed);
        }
        if wanted() {
            permit.forget();
            queue.lines.push_back(QueuedLine { line, permits });
            drop(queue);
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Queues a line at once, for senders that must not wait.
    pub(crate) fn send_urgent(&self, line: String) {
        let mut queue = self.queue.lock();
        if queue.closed {
            return;
        }
        queue.urgent += line.len();
        if queue.urgent > URGENT_LIMIT {
            queue.closed = true;
            queue.lines.clear();
            self.overrun.cancel();
            self.closed.cancel();
            return self.capacity.close();
        }
        queue.lines.push_back(QueuedLine { line, permits: 0 });
        drop(queue);
        self.changed.notify_one();
    }

    /// Accepts no more lines. Queued ones are still written.
    pub(crate) fn close(&self) {
        self.queue.lock().closed = true;
        self.capacity.close();
        self.changed.notify_one();
        self.closed.cancel();
    }

    /// Waits until no more lines are accepted.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Writes what is queued, until the outbox is closed and empty.
    pub(crate) async fn write_to(&self, sink: Sink) -> io::Result<()> {
        tokio::select! {
            written = self.write_all(sink) => written,
            () = self.overrun.cancelled() => {
                Err(io::Error::other("the other end sends requests and reads no responses"))
            }
        }
    }

    async fn write_all(&self, mut sink: Sink) -> io::Result<()> {
        let mut batch = Vec::new();
        loop {
            let (permits, next) = self.take(&mut batch);
            if !batch.is_empty() {
                sink.write(&mut batch).await?;
                self.capacity.add_permits(permits as usize);
            }
            match next {
                Next::More => {}
                Next::Wait => {
                    sink.flush().await?;
                    self.changed.notified().await;
                }
                Next::End => return sink.close().await,
            }
        }
    }

    /// Moves the next lines into `batch`; returns their permits and what to do after the write.
    fn take(&self, batch: &mut Vec<String>) -> (u32, Next) {
        let mut queue = self.queue.lock();
        let (mut bytes, mut permits) = (0, 0);
        while let Some(QueuedLine { line, .. }) = queue.lines.front() {
            if bytes > 0 && bytes + line.len() > WRITE_BATCH {
                return (permits, Next::More);
            }
            bytes += line.len();
            if let Some(queued) = queue.lines.pop_front() {
                if queued.permits == 0 {
                    queue.urgent -= queued.line.len();
                }
                permits += queued.permits;
                batch.push(queued.line);
            }
        }
        // A burst must not cost its size for the rest of the session.
        mem::take(&mut queue.lines);
        (permits, if queue.closed { Next::End } else { Next::Wait })
    }
}

/// What the writer does after a batch.
enum Next {
    More,
    Wait,
    End,
}
