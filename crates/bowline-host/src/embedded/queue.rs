//! Unread messages of an embedded engine.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bowline_protocol::Message;
use tokio::sync::Notify;

use crate::Error;

/// Messages that may wait. A full queue is back-pressure on the engine, which makes
/// them as fast as they are wanted; a turn has some dozens, or hundreds if they are partial.
const ROOM: usize = 4096;

/// A queue with one writer, the engine, and one reader.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Notify,
    room: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<Result<Message, Error>>,
    /// Requests of the program that the engine is responding to.
    requests: usize,
    /// The writer has finished.
    ended: bool,
    /// The session is closing: the writer does not wait for a reader any more.
    closing: bool,
}

impl Waiting {
    /// Whether the writer may continue. While it responds to the program it always may: the program
    /// waits for the response and cannot read meanwhile.
    fn has_room(&self) -> bool {
        self.messages.len() < ROOM || self.requests > 0
    }
}

impl Queue {
    /// Adds a message when there is room for it.
    pub(super) async fn push(&self, message: Message) {
        loop {
            let room = self.room.notified();
            {
                let mut waiting = self.lock();
                if waiting.has_room() {
                    waiting.messages.push_back(Ok(message));
                    break;
                }
                if waiting.closing {
                    return;
                }
            }
            room.await;
        }
        self.arrived.notify_one();
    }

    /// The next message, if there is one.
    pub(super) fn try_next(&self) -> Option<Result<Message, Error>> {
        let message = self.lock().messages.pop_front()?;
        self.room.notify_waiters();
        Some(message)
    }

    /// The next message; `None` when the engine has ended.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(super) async fn next(&self) -> Option<Result<Message, Error>> {
        // A reader with a long backlog lets others run too.
        tokio::task::coop::consume_budget().await;
        loop {
            {
                let mut waiting = self.lock();
                if let Some(message) = waiting.messages.pop_front() {
                    drop(waiting);
                    self.room.notify_waiters();
                    return Some(message);
                }
                if waiting.ended {
                    return None;
                }
            }
            self.arrived.notified().await;
        }
    }

    /// Ends the queue, perhaps with the reason.
    pub(super) fn end(&self, why: Option<Error>) {
        let mut waiting = self.lock();
        waiting.ended = true;
        waiting.messages.extend(why.map(Err));
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Marks the session as closing: messages beyond the limit are lost, and the engine need not
    /// wait for a reader. Messages from before can still be read.
    pub(super) fn close(&self) {
        self.lock().closing = true;
        self.room.notify_waiters();
    }

    /// Marks the engine as responding to the program, until the guard is dropped.
    pub(super) fn responding(&self) -> RespondingGuard<'_> {
        self.lock().requests += 1;
        self.room.notify_waiters();
        RespondingGuard(self)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard: the engine is responding to the program.
pub(super) struct RespondingGuard<'a>(&'a Queue);

impl Drop for RespondingGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().requests -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn message() -> Message {
        Message::parse(r#"{"type":"anything"}"#).unwrap()
    }

    #[tokio::test]
    async fn full_queue_blocks_the_writer_except_while_it_responds() {
        let queue = Queue::default();
        for _ in 0..ROOM {
            queue.push(message()).now_or_never().expect("there is room");
        }
        let mut held = Box::pin(queue.push(message()));
        assert!(held.as_mut().now_or_never().is_none());
        let responding = queue.responding();
        held.as_mut().now_or_never().expect("a response does not wait");
        drop(responding);
        assert!(queue.push(message()).now_or_never().is_none());
        queue.close();
        queue.push(message()).now_or_never().expect("a closing queue does not wait");
        queue.end(None);
        for _ in 0..=ROOM {
            assert!(queue.next().await.is_some());
        }
        assert!(queue.next().await.is_none());
    }
}
