//! Queue of received messages that are not read yet.
//!
//! The session appends and never waits; the reader takes messages at its own pace. Up to a number
//! of bytes they are held in memory. Beyond it they spill to a temporary file, or the session
//! stops reading, which is back-pressure on the other end: [`Overflow`].

use std::{
    borrow::Cow,
    collections::VecDeque,
    io, mem,
    ops::RangeInclusive,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bowline_protocol::Line;
use tokio::{sync::Notify, time};

use crate::{batch::Batch, spill::Spill};

/// What happens to messages beyond the inbox's memory limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// They spill to a temporary file. Memory stays flat, and control frames are handled
    /// however late the reader is.
    #[default]
    Spill,
    /// The link is not read until there is capacity, so that the other end has to wait.
    /// Requests and responses after the messages wait with them: choose this only
    /// if the reader of messages never waits for a response meanwhile.
    HoldSender,
}

/// The messages of a session, in the order in which they were written.
///
/// Control frames and keep-alives are not among them. After the inbox is dropped, the session
/// continues and discards its messages.
#[derive(Debug)]
pub struct Inbox {
    shared: Arc<Shared>,
    /// Taken from the shared queue together, so that the lock is not taken for each.
    taken: Batch,
}

/// Bytes of lines that are queued together and taken at once.
const TAKE: usize = 64 * 1024;

/// Backlog range in which the reader counts as active: reading pauses up to `PATIENCE`. Above it
/// reading continues, so that control frames are not delayed.
const ACTIVE_BACKLOG: RangeInclusive<usize> = TAKE + 1..=4 * TAKE;

/// How long a reader may take nothing and still count as active.
const PATIENCE: Duration = Duration::from_millis(1);

impl Inbox {
    /// The next message; `None` when the session has ended and all were read.
    ///
    /// Cancel safety: no message is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Line<&str>> {
        // A reader with a long backlog yields to other tasks.
        tokio::task::coop::consume_budget().await;
        while self.taken.is_over() {
            if !self.take() {
                self.shared.arrived.notified().await;
            } else if self.taken.is_over() {
                return None;
            }
        }
        self.taken.next()
    }

    /// The next message, if one is there.
    pub fn try_next(&mut self) -> Option<Line<&str>> {
        if self.taken.is_over() {
            self.take();
        }
        self.taken.next()
    }

    /// Takes queued lines. `false` means that there are none yet.
    fn take(&mut self) -> bool {
        let mut queue = self.shared.lock();
        if queue.batches.is_empty() {
            queue.refill();
        }
        let next = queue.batches.pop_front();
        let known = next.is_some() || queue.closed;
        match next {
            Some(batch) => {
                queue.bytes -= batch.cost();
                queue.reader_is_away = false;
                queue.spare = mem::replace(&mut self.taken, batch);
                queue.spare.clear();
            }
            // The next one may be far away, so the memory is released.
            None => self.taken.clear(),
        }
        if queue.batches.is_empty() {
            // A burst must not cost its size for the rest of the session.
            mem::take(&mut queue.batches);
        }
        let room = queue.room();
        drop(queue);
        if room != Room::None {
            self.shared.room.notify_one();
        }
        known
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        queue.abandoned = true;
        queue.forget();
        drop(queue);
        self.shared.room.notify_one();
    }
}

/// The session's side of the inbox.
#[derive(Debug)]
pub(crate) struct Delivery {
    shared: Arc<Shared>,
}

/// An inbox and the session's side of it.
pub(crate) fn inbox(limit: usize, overflow: Overflow) -> (Delivery, Inbox) {
    let queue = Queue {
        batches: VecDeque::new(),
        bytes: 0,
        spare: Batch::default(),
        limit,
        overflow,
        spill: Spill::default(),
        spill_failed: false,
        lost: None,
        closed: false,
        reader_is_away: false,
        abandoned: false,
    };
    let (arrived, room) = (Notify::new(), Notify::new());
    let shared = Arc::new(Shared { queue: Mutex::new(queue), arrived, room });
    (Delivery { shared: shared.clone() }, Inbox { shared, taken: Batch::default() })
}

/// Whether the inbox accepts more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Room {
    Some,
    /// It does, but other tasks should run first: the backlog is long.
    Scarce,
    None,
}

impl Delivery {
    /// Appends lines, whatever the backlog, and leaves an empty batch.
    pub(crate) fn push(&self, lines: &mut Batch) -> Room {
        let mut queue = self.shared.lock();
        queue.push(lines);
        let room = queue.room();
        drop(queue);
        self.shared.arrived.notify_one();
        room
    }

    /// Yields, and waits until the inbox accepts more and an active reader has caught up: fresh lines
    /// are read while they are in the cache, and go neither through much memory nor to disk.
    pub(crate) async fn wait_for_room(&self) {
        // To yield is most often enough, and cheaper than a notification.
        tokio::task::yield_now().await;
        loop {
            let taken = self.shared.room.notified();
            let (room, is_being_read) = {
                let queue = self.shared.lock();
                (queue.room(), queue.is_being_read())
            };
            match room {
                Room::None => taken.await,
                Room::Scarce if is_being_read => {
                    if time::timeout(PATIENCE, taken).await.is_err() {
                        self.shared.lock().reader_is_away = true;
                    }
                }
                Room::Scarce | Room::Some => return,
            }
        }
    }

    /// Ends the queue. Reports whether messages were lost.
    pub(crate) fn close(&self) -> io::Result<()> {
        let mut queue = self.shared.lock();
        queue.closed = true;
        let lost = queue.lost.take();
        drop(queue);
        self.shared.arrived.notify_one();
        lost.map_or(Ok(()), Err)
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.close().ok();
    }
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    /// Wakes the reader: there are messages, or no more will come.
    arrived: Notify,
    /// Wakes the session: there is capacity.
    room: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Queue {
    /// The oldest messages.
    batches: VecDeque<Batch>,
    /// Their cost in bytes.
    bytes: usize,
    /// A drained batch, whose memory is reused.
    spare: Batch,
    limit: usize,
    overflow: Overflow,
    /// Later messages, on disk.
    spill: Spill,
    /// The disk is full, so the sender has to wait after all.
    spill_failed: bool,
    /// Spilled messages could not be read back.
    lost: Option<io::Error>,
    closed: bool,
    /// The reader has taken nothing for a while.
    reader_is_away: bool,
    /// The reader was dropped.
    abandoned: bool,
}

impl Queue {
    fn room(&self) -> Room {
        if self.abandoned {
            return Room::Some;
        }
        let hold = self.overflow == Overflow::HoldSender || self.spill_failed;
        if hold && (self.bytes >= self.limit || !self.spill.is_empty()) {
            return Room::None;
        }
        if self.bytes > TAKE { Room::Scarce } else { Room::Some }
    }

    /// Whether an active reader will soon have taken the backlog.
    fn is_being_read(&self) -> bool {
        ACTIVE_BACKLOG.contains(&self.bytes) && self.spill.is_empty() && !self.reader_is_away
    }

    fn push(&mut self, lines: &mut Batch) {
        if self.abandoned || self.lost.is_some() {
            lines.clear();
            return;
        }
        let fits = self.bytes + lines.cost() <= self.limit || self.batches.is_empty();
        if self.spill.is_empty() && (fits || self.overflow == Overflow::HoldSender) {
            self.hold(lines);
        } else {
            self.spill(lines);
        }
    }

    fn hold(&mut self, lines: &mut Batch) {
        self.bytes += lines.cost();
        match self.batches.back_mut() {
            // Lines that arrive one by one are queued together.
            Some(last) if last.cost() + lines.cost() <= TAKE => last.append(lines),
            _ => self.batches.push_back(mem::replace(lines, mem::take(&mut self.spare))),
        }
    }

    fn spill(&mut self, lines: &mut Batch) {
        while let Some(line) = lines.next() {
            if let Err(error) = self.spill.push(line)
                && !mem::replace(&mut self.spill_failed, true)
            {
                tracing::warn!(%error, "unread messages cannot be spilled to disk; the other end has to wait");
            }
        }
        lines.clear();
    }

    /// Reads the oldest spilled messages back.
    fn refill(&mut self) {
        if self.spill.is_empty() {
            return;
        }
        match self.spill.pop_block() {
            Ok(lines) => {
                let mut batch = mem::take(&mut self.spare);
                for line in lines {
                    batch.push(line.map(Cow::Owned));
                }
                self.hold(&mut batch);
                self.spill_failed &= !self.spill.is_empty();
            }
            Err(error) => {
                tracing::error!(%error, "unread messages are lost");
                self.forget();
                self.lost = Some(error);
                self.closed = true;
            }
        }
    }

    fn forget(&mut self) {
        self.batches = VecDeque::new();
        self.spare = Batch::default();
        self.bytes = 0;
        self.spill = Spill::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch of the size that is taken at once.
    fn chunk() -> Batch {
        let mut lines = Batch::default();
        lines.push(Line { number: 1, offset: 0, text: Cow::Owned("x".repeat(TAKE)) });
        lines
    }

    #[tokio::test]
    async fn active_reader_is_waited_for() {
        let (delivery, mut inbox) = inbox(10_000_000, Overflow::Spill);
        assert_eq!(delivery.push(&mut chunk()), Room::Scarce);
        inbox.try_next();
        delivery.wait_for_room().await;
        assert_eq!(delivery.push(&mut chunk()), Room::Scarce);
        assert_eq!(delivery.push(&mut chunk()), Room::Scarce);
        let reading = async {
            while inbox.try_next().is_some() {
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(delivery.wait_for_room(), reading);
        assert_eq!(delivery.shared.lock().room(), Room::Some);
        assert!(!delivery.shared.lock().reader_is_away);
    }

    #[tokio::test(start_paused = true)]
    async fn inactive_or_late_reader_is_not_waited_for() {
        let (delivery, mut inbox) = inbox(10_000_000, Overflow::Spill);
        let start = time::Instant::now();
        delivery.push(&mut chunk());
        delivery.wait_for_room().await;
        assert!(start.elapsed() >= PATIENCE && start.elapsed() < 10 * PATIENCE);
        let start = time::Instant::now();
        for _ in 0..10 {
            // Other tasks run all the same.
            assert_eq!(delivery.push(&mut chunk()), Room::Scarce);
            delivery.wait_for_room().await;
        }
        // It is active again, but its backlog is long.
        inbox.try_next();
        delivery.push(&mut chunk());
        delivery.wait_for_room().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[test]
    fn memory_of_a_read_batch_is_released_while_waiting() {
        let (delivery, mut inbox) = inbox(10_000_000, Overflow::Spill);
        let mut lines = Batch::default();
        lines.push(Line { number: 1, offset: 0, text: Cow::Owned("x".repeat(1_000_000)) });
        delivery.push(&mut lines);
        assert_eq!(inbox.try_next().unwrap().text.len(), 1_000_000);
        assert_eq!(inbox.taken.capacity(), 1_000_000);
        assert_eq!(inbox.try_next(), None);
        assert_eq!(inbox.taken.capacity(), 0);
    }
}
