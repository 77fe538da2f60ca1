//! Lines waiting to be written: one queue, one writer, and speakers who wait for room.

use std::{
    collections::VecDeque,
    io, mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::link::Sink;

/// Bytes that may wait to be written before speakers have to wait themselves.
const ROOM: u32 = 1024 * 1024;

/// Bytes that one write gathers from waiting lines.
const WRITE_BATCH: usize = 64 * 1024;

/// Bytes that may wait beyond [`ROOM`] on behalf of those who cannot wait: refusals and
/// withdrawals. An end that causes this many and reads none of them is given up.
const URGENT_LIMIT: usize = 16 * 1024 * 1024;

/// The session has ended, or our direction of it.
#[derive(Debug)]
pub(crate) struct Closed;

#[derive(Debug)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    /// One permit for each byte that still fits.
    room: Semaphore,
    /// The queue has something for the writer, or was closed.
    changed: Notify,
    /// Fires when the other end causes urgent lines and reads none.
    overrun: CancellationToken,
    /// Fires when no more lines are taken.
    closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<Waiting>,
    /// Bytes of urgent lines that wait.
    urgent: usize,
    closed: bool,
}

#[derive(Debug)]
struct Waiting {
    line: String,
    /// Permits to give back once it is written; an urgent line has none.
    room: u32,
}

impl Outbox {
    pub(crate) fn new() -> Self {
        let room = Semaphore::new(ROOM as usize);
        let (changed, overrun) = (Notify::new(), CancellationToken::new());
        Self { queue: Mutex::default(), room, changed, overrun, closed: CancellationToken::new() }
    }

    /// Queues a line once there is room, if it is still `wanted` by then.
    ///
    /// Cancel safety: a line is queued whole or, when the future is dropped, not at all.
    pub(crate) async fn send(
        &self,
        line: String,
        wanted: impl FnOnce() -> bool,
    ) -> Result<(), Closed> {
        // A line longer than all the room there is waits until it is alone.
        let room = u32::try_from(line.len()).map_or(ROOM, |length| length.min(ROOM));
        let permit = self.room.acquire_many(room).await.map_err(|_| Closed)?;
        let mut queue = self.lock();
        if queue.closed {
            return Err(Closed);
        }
        if wanted() {
            permit.forget();
            queue.lines.push_back(Waiting { line, room });
            drop(queue);
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Queues a line at once, for those who must not wait.
    pub(crate) fn send_urgent(&self, line: String) {
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        queue.urgent += line.len();
        if queue.urgent > URGENT_LIMIT {
            queue.closed = true;
            queue.lines.clear();
            self.overrun.cancel();
            self.closed.cancel();
            return self.room.close();
        }
        queue.lines.push_back(Waiting { line, room: 0 });
        drop(queue);
        self.changed.notify_one();
    }

    /// Takes no more lines. Those that wait are still written.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.room.close();
        self.changed.notify_one();
        self.closed.cancel();
    }

    /// Waits until no more lines are taken.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Writes what is queued, until the outbox is closed and empty.
    pub(crate) async fn write_to(&self, sink: Sink) -> io::Result<()> {
        tokio::select! {
            written = self.write_all(sink) => written,
            () = self.overrun.cancelled() => {
                Err(io::Error::other("the other end asks without end and reads nothing"))
            }
        }
    }

    async fn write_all(&self, mut sink: Sink) -> io::Result<()> {
        let mut batch = Vec::new();
        loop {
            let (room, next) = self.take(&mut batch);
            if !batch.is_empty() {
                sink.write(&mut batch).await?;
                self.room.add_permits(room as usize);
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

    /// Moves the next lines into `batch` and tells how much room they will leave.
    fn take(&self, batch: &mut Vec<String>) -> (u32, Next) {
        let mut queue = self.lock();
        let (mut bytes, mut room) = (0, 0);
        while let Some(Waiting { line, .. }) = queue.lines.front() {
            if bytes > 0 && bytes + line.len() > WRITE_BATCH {
                return (room, Next::More);
            }
            bytes += line.len();
            if let Some(waiting) = queue.lines.pop_front() {
                if waiting.room == 0 {
                    queue.urgent -= waiting.line.len();
                }
                room += waiting.room;
                batch.push(waiting.line);
            }
        }
        // A burst must not cost its size for the rest of the session.
        mem::take(&mut queue.lines);
        (room, if queue.closed { Next::End } else { Next::Wait })
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the writer does after a batch.
enum Next {
    More,
    Wait,
    End,
}
