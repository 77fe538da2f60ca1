//! Messages that nobody has read yet.
//!
//! The session puts them in and never waits; the reader takes them out when it
//! pleases. Up to a number of bytes they wait in memory. Beyond it they wait in a
//! temporary file, or the session stops reading until there is room: [`Overflow`].

use std::{
    collections::VecDeque,
    io, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bowline_protocol::Line;
use tokio::sync::Notify;

use crate::spill::Spill;

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
    taken: VecDeque<Line>,
}

/// Bytes that a reader takes at once.
const TAKE: usize = 64 * 1024;

impl Inbox {
    /// The next message; `None` when the session has ended and all were read.
    ///
    /// Cancel safety: no message is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Line> {
        // A reader with a long backlog lets others run too.
        tokio::task::coop::consume_budget().await;
        loop {
            if let Some(line) = self.taken.pop_front() {
                return Some(line);
            }
            if !self.take() {
                self.shared.arrived.notified().await;
            } else if self.taken.is_empty() {
                return None;
            }
        }
    }

    /// The next message, if one is there.
    pub fn try_next(&mut self) -> Option<Line> {
        if self.taken.is_empty() {
            self.take();
        }
        self.taken.pop_front()
    }

    /// Takes waiting lines. `false` means that there are none yet.
    fn take(&mut self) -> bool {
        let mut queue = self.shared.lock();
        if queue.lines.is_empty() {
            queue.refill();
        }
        let mut bytes = 0;
        while bytes < TAKE
            && let Some(line) = queue.lines.pop_front()
        {
            bytes += cost(&line);
            self.taken.push_back(line);
        }
        queue.bytes -= bytes;
        if queue.lines.is_empty() {
            // A burst must not cost its size for the rest of the session.
            mem::take(&mut queue.lines);
        }
        let (known, room) = (!self.taken.is_empty() || queue.closed, !queue.is_full());
        drop(queue);
        if room {
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
        lines: VecDeque::new(),
        bytes: 0,
        limit,
        overflow,
        spill: Spill::default(),
        spill_failed: false,
        lost: None,
        closed: false,
        abandoned: false,
    };
    let (arrived, room) = (Notify::new(), Notify::new());
    let shared = Arc::new(Shared { queue: Mutex::new(queue), arrived, room });
    (Delivery { shared: shared.clone() }, Inbox { shared, taken: VecDeque::new() })
}

/// Whether the inbox takes more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Room {
    Some,
    None,
}

impl Delivery {
    /// Puts lines in, however many there are already.
    pub(crate) fn push(&self, lines: &mut Vec<Line>) -> Room {
        let mut queue = self.shared.lock();
        for line in lines.drain(..) {
            queue.push(line);
        }
        let room = if queue.is_full() { Room::None } else { Room::Some };
        drop(queue);
        self.shared.arrived.notify_one();
        room
    }

    /// Whether messages wait that the reader could have taken, had it had a turn.
    pub(crate) fn is_behind(&self) -> bool {
        let queue = self.shared.lock();
        !queue.abandoned && queue.bytes > TAKE
    }

    /// Waits until the inbox takes more.
    pub(crate) async fn wait_for_room(&self) {
        while self.shared.lock().is_full() {
            self.shared.room.notified().await;
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
    lines: VecDeque<Line>,
    /// What `lines` cost.
    bytes: usize,
    limit: usize,
    overflow: Overflow,
    /// Those that came after `lines`.
    spill: Spill,
    /// The disk takes no more, so the sender has to wait after all.
    spill_failed: bool,
    /// The disk did not give back what it was given.
    lost: Option<io::Error>,
    closed: bool,
    /// Nobody will read.
    abandoned: bool,
}

impl Queue {
    fn is_full(&self) -> bool {
        let hold = self.overflow == Overflow::HoldSender || self.spill_failed;
        hold && !self.abandoned && (self.bytes >= self.limit || !self.spill.is_empty())
    }

    fn push(&mut self, line: Line) {
        if self.abandoned || self.lost.is_some() {
            return;
        }
        let fits = self.bytes + cost(&line) <= self.limit || self.lines.is_empty();
        if self.spill.is_empty() && (fits || self.overflow == Overflow::HoldSender) {
            self.bytes += cost(&line);
            self.lines.push_back(line);
        } else if let Err(error) = self.spill.push(&line)
            && !mem::replace(&mut self.spill_failed, true)
        {
            tracing::warn!(%error, "no disk for unread messages; the other end has to wait");
        }
    }

    /// Brings the oldest spilled messages back.
    fn refill(&mut self) {
        if self.spill.is_empty() {
            return;
        }
        match self.spill.pop_block() {
            Ok(lines) => {
                self.bytes += lines.iter().map(cost).sum::<usize>();
                self.lines.extend(lines);
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
        self.lines = VecDeque::new();
        self.bytes = 0;
        self.spill = Spill::default();
    }
}

/// What a waiting line costs in memory.
fn cost(line: &Line) -> usize {
    size_of::<Line>() + line.text.len()
}
