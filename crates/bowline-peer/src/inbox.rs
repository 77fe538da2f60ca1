//! Messages that nobody has read yet.
//!
//! The session puts them in and never waits; the reader takes them out when it
//! pleases. Up to a number of bytes they wait in memory. Beyond it they wait in a
//! temporary file, or the session stops reading until there is room: [`Overflow`].

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

/// What happens when more messages wait than the inbox may hold in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// They wait in a temporary file. Memory stays flat, and control goes on
    /// however late the reader is.
    #[default]
    Spill,
    /// The link is not read until there is room, so that the other end has to wait.
    /// Questions and answers behind the messages wait with them: choose this only
    /// if whoever reads messages never waits for an answer meanwhile.
    HoldSender,
}

/// The messages of a session, in the order in which they were written.
///
/// Control frames and keep-alives are not among them. Dropping the inbox lets the
/// session go on and forgets its messages.
#[derive(Debug)]
pub struct Inbox {
    shared: Arc<Shared>,
    /// Taken out of the shared queue already, so that the lock is not taken for each.
    taken: Batch,
}

/// Bytes of lines that wait together, and are taken at once.
const TAKE: usize = 64 * 1024;

/// Bytes that a reader has to take who is only just behind. Such a one is waited for; whatever comes
/// behind more than that, control among it, must not wait for somebody who is late.
const JUST_BEHIND: RangeInclusive<usize> = TAKE + 1..=4 * TAKE;

/// How long a reader may take nothing and still be at work.
const PATIENCE: Duration = Duration::from_millis(1);

impl Inbox {
    /// The next message; `None` when the session has ended and all were read.
    ///
    /// Cancel safety: no message is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Line<&str>> {
        // A reader with a long backlog lets others run too.
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

    /// Takes waiting lines. `false` means that there are none yet.
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
            // It may be long until there is another.
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

/// An inbox and the way into it.
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

/// Whether the inbox takes more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Room {
    Some,
    /// It does, but others should have a turn first: much waits already.
    Scarce,
    None,
}

impl Delivery {
    /// Puts lines in, however many there are already, and leaves an empty batch in their place.
    pub(crate) fn push(&self, lines: &mut Batch) -> Room {
        let mut queue = self.shared.lock();
        queue.push(lines);
        let room = queue.room();
        drop(queue);
        self.shared.arrived.notify_one();
        room
    }

    /// Lets others have a turn, and waits until the inbox takes more and a reader that is at work is not
    /// behind: what has just come is read while it is near, and goes neither through much memory nor to
    /// the disk.
    pub(crate) async fn wait_for_room(&self) {
        // A turn is most often enough, and takes less than to be told.
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

    /// No more messages. Tells if any were lost.
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
    /// For the one reader: there are messages, or no more will come.
    arrived: Notify,
    /// For the session: there is room.
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
    /// What they cost.
    bytes: usize,
    /// One that was used up, with its memory.
    spare: Batch,
    limit: usize,
    overflow: Overflow,
    /// Those that came after them.
    spill: Spill,
    /// The disk takes no more, so the sender has to wait after all.
    spill_failed: bool,
    /// The disk did not give back what it was given.
    lost: Option<io::Error>,
    closed: bool,
    /// The reader has taken nothing for a while.
    reader_is_away: bool,
    /// Nobody will read.
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

    /// Whether somebody is at work who will soon have taken what waits.
    fn is_being_read(&self) -> bool {
        JUST_BEHIND.contains(&self.bytes) && self.spill.is_empty() && !self.reader_is_away
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
            // Lines that come one by one wait together.
            Some(last) if last.cost() + lines.cost() <= TAKE => last.append(lines),
            _ => self.batches.push_back(mem::replace(lines, mem::take(&mut self.spare))),
        }
    }

    fn spill(&mut self, lines: &mut Batch) {
        while let Some(line) = lines.next() {
            if let Err(error) = self.spill.push(line)
                && !mem::replace(&mut self.spill_failed, true)
            {
                tracing::warn!(%error, "no disk for unread messages; the other end has to wait");
            }
        }
        lines.clear();
    }

    /// Brings the oldest spilled messages back.
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

    /// As much as lines of a chunk.
    fn chunk() -> Batch {
        let mut lines = Batch::default();
        lines.push(Line { number: 1, offset: 0, text: Cow::Owned("x".repeat(TAKE)) });
        lines
    }

    #[tokio::test]
    async fn a_reader_at_work_is_waited_for() {
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
    async fn a_reader_that_is_away_or_late_is_not_waited_for() {
        let (delivery, mut inbox) = inbox(10_000_000, Overflow::Spill);
        let start = time::Instant::now();
        delivery.push(&mut chunk());
        delivery.wait_for_room().await;
        assert!(start.elapsed() >= PATIENCE && start.elapsed() < 10 * PATIENCE);
        let start = time::Instant::now();
        for _ in 0..10 {
            // Others have a turn all the same.
            assert_eq!(delivery.push(&mut chunk()), Room::Scarce);
            delivery.wait_for_room().await;
        }
        // It is back, but much is before what comes now.
        inbox.try_next();
        delivery.push(&mut chunk());
        delivery.wait_for_room().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[test]
    fn what_was_read_is_forgotten_once_more_is_waited_for() {
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
