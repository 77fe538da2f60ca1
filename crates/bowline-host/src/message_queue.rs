//! Queue of unread messages that never makes its writer wait: the first in memory, the others spilled
//! to temporary files.
//!
//! A reader that never reads costs little memory and delays no one.

use std::{collections::VecDeque, io};

use bowline_peer::Spill;
use bowline_protocol::{Line, Message};
use parking_lot::Mutex;
use tokio::{sync::Notify, task::coop};

use crate::error::{Error, beginning};

/// Messages that are kept in memory. A turn has some dozens.
const IN_MEMORY: usize = 256;

/// Errors among the spilled messages, which stay in memory. More are only counted.
const ERRORS: usize = 256;

/// Queue of messages and errors with many readers: each item goes to one of them.
#[derive(Debug, Default)]
pub(crate) struct MessageQueue {
    state: Mutex<QueueState>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    items: SpillingItems,
    ended: bool,
}

impl MessageQueue {
    /// Appends a message.
    pub(crate) fn push(&self, message: Result<Message, Error>) {
        self.state.lock().items.push(message);
        self.arrived.notify_one();
    }

    /// Ends the queue: readers get what is left, then `None`.
    pub(crate) fn end(&self) {
        self.state.lock().ended = true;
        self.arrived.notify_waiters();
    }

    /// Whether there are no unread messages.
    #[cfg_attr(not(feature = "sessions"), expect(dead_code, reason = "for the mirror of a store"))]
    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().items.is_empty()
    }

    /// Takes the oldest message, if there is one.
    #[cfg_attr(not(feature = "sessions"), expect(dead_code, reason = "for the mirror of a store"))]
    pub(crate) fn try_next(&self) -> Option<Result<Message, Error>> {
        self.state.lock().items.pop()
    }

    /// Takes the oldest message; `None` when the queue has ended and all were read.
    ///
    /// Cancel safety: no message is lost when the future is dropped.
    pub(crate) async fn next(&self) -> Option<Result<Message, Error>> {
        // A reader with a long backlog yields to other tasks.
        coop::consume_budget().await;
        loop {
            let arrived = self.arrived.notified();
            tokio::pin!(arrived);
            // From here on `notify_waiters` reaches this reader.
            arrived.as_mut().enable();
            {
                let mut state = self.state.lock();
                if let Some(message) = state.items.pop() {
                    let more = !state.items.is_empty();
                    drop(state);
                    if more {
                        // Two messages may have caused one notification.
                        self.arrived.notify_one();
                    }
                    return Some(message);
                }
                if state.ended {
                    return None;
                }
            }
            arrived.await;
        }
    }
}

/// Messages and errors in order, spilled to disk beyond [`IN_MEMORY`].
#[derive(Debug, Default)]
struct SpillingItems {
    /// The oldest.
    memory: VecDeque<Result<Message, Error>>,
    /// The messages after them.
    spilled: Spill,
    /// Errors among the spilled, each with the number of messages before it.
    errors: VecDeque<(u64, Error)>,
    /// Errors beyond [`ERRORS`], dropped and counted.
    dropped: u64,
    /// How many were ever spilled, and how many of those were taken back.
    written: u64,
    read: u64,
}

impl SpillingItems {
    /// Whether the queue is empty.
    fn is_empty(&self) -> bool {
        self.memory.is_empty() && !self.is_spilling()
    }

    /// Appends a message.
    fn push(&mut self, message: Result<Message, Error>) {
        if self.is_spilling() || self.memory.len() >= IN_MEMORY {
            self.spill(message);
        } else {
            self.memory.push_back(message);
        }
    }

    /// Takes the oldest.
    fn pop(&mut self) -> Option<Result<Message, Error>> {
        if let Some(message) = self.memory.pop_front() {
            return Some(message);
        }
        if let Err(error) = self.refill() {
            // Messages on disk are lost; later ones are not.
            tracing::error!(%error, "lost unread messages");
            self.read = self.written;
            self.spilled = Spill::default();
            let what = "reading messages that waited on disk".to_owned();
            return Some(Err(Error::Connection { what, source: Some(error.into()) }));
        }
        self.memory.pop_front()
    }

    fn is_spilling(&self) -> bool {
        self.read < self.written || !self.errors.is_empty()
    }

    fn spill(&mut self, message: Result<Message, Error>) {
        let text = match message {
            Ok(message) => serde_json::to_string(&message),
            Err(error) => return self.spill_error(error),
        };
        match text {
            Ok(text) => {
                let line = Line { number: self.written, offset: 0, text: &*text };
                self.written += 1;
                if let Err(error) = self.spilled.push(line) {
                    tracing::warn!(%error, "unread messages stay in memory");
                }
            }
            Err(error) => tracing::error!(%error, "lost a message that cannot be written"),
        }
    }

    fn spill_error(&mut self, error: Error) {
        if error.is_about_one_message() && self.errors.len() >= ERRORS {
            self.dropped += 1;
            return;
        }
        // The error that ends the session comes last, and is always kept.
        let dropped = self.dropped_errors().into_iter();
        self.errors.extend(dropped.chain([error]).map(|error| (self.written, error)));
    }

    /// The error that reports how many were dropped.
    fn dropped_errors(&mut self) -> Option<Error> {
        let count = std::mem::take(&mut self.dropped);
        (count > 0).then(|| Error::Json {
            line: String::new(),
            source: io::Error::other(format!("{count} more were not kept")).into(),
        })
    }

    /// Takes the oldest block of spilled messages back.
    fn refill(&mut self) -> io::Result<()> {
        for line in self.spilled.pop_block()? {
            self.due_errors();
            self.read += 1;
            let message = Message::parse(&line.text);
            self.memory.push_back(message.map_err(|error| Error::Message {
                line: beginning(&line.text),
                source: error.into(),
            }));
        }
        self.due_errors();
        Ok(())
    }

    /// Moves the errors that are due to the messages in memory.
    fn due_errors(&mut self) {
        while self.errors.front().is_some_and(|(position, _)| *position <= self.read) {
            self.memory.extend(self.errors.pop_front().map(|(_, error)| Err(error)));
            if self.errors.is_empty() {
                let dropped = self.dropped_errors();
                self.memory.extend(dropped.map(Err));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn message(number: usize) -> Message {
        Message::parse(&format!(r#"{{"type":"number","number":{number}}}"#)).unwrap()
    }

    #[test]
    fn order_is_kept_however_much_is_spilled() {
        let mut items = SpillingItems::default();
        let mut expected = Vec::new();
        for number in 0..20 * IN_MEMORY {
            items.push(Ok(message(number)));
            expected.push(format!("{:?}", message(number)));
            if number % 1000 == 7 {
                items.push(Err(Error::Closed));
                expected.push("closed".to_owned());
            }
        }
        assert!(items.memory.len() <= IN_MEMORY);
        let mut read = Vec::new();
        while let Some(next) = items.pop() {
            read.push(match next {
                Ok(message) => format!("{message:?}"),
                Err(error) => error.code().to_owned(),
            });
        }
        assert_eq!(read, expected);
        assert!(items.is_empty());
    }

    #[test]
    fn items_errors_beyond_the_limit_are_counted_and_the_last_is_kept() {
        let mut items = SpillingItems::default();
        for number in 0..IN_MEMORY + 1 {
            items.push(Ok(message(number)));
        }
        let nonsense =
            || Error::Json { line: String::new(), source: io::Error::other("odd").into() };
        for _ in 0..ERRORS + 10 {
            items.push(Err(nonsense()));
        }
        assert_eq!(items.errors.len(), ERRORS);
        items.push(Err(Error::Closed));
        let mut errors = Vec::new();
        while let Some(next) = items.pop() {
            errors.extend(next.err().map(|error| error.to_string()));
        }
        assert_eq!(errors.len(), ERRORS + 2);
        assert!(errors[ERRORS].contains("10 more were not kept"), "{}", errors[ERRORS]);
        assert_eq!(errors[ERRORS + 1], Error::Closed.to_string());
    }

    #[tokio::test]
    async fn reader_waits_until_the_queue_ends() {
        let queue = MessageQueue::default();
        assert!(queue.next().now_or_never().is_none(), "it may come");
        queue.push(Ok(message(1)));
        assert!(queue.next().await.is_some());
        assert!(queue.next().now_or_never().is_none(), "more may come");
        queue.end();
        assert!(queue.next().await.is_none());
    }

    #[tokio::test]
    async fn two_readers_share_messages_and_both_see_the_end() {
        let queue = MessageQueue::default();
        let count = async || {
            let mut count = 0;
            while queue.next().await.is_some() {
                count += 1;
            }
            count
        };
        let write = async {
            for number in 0..1000 {
                queue.push(Ok(message(number)));
                tokio::task::yield_now().await;
            }
            queue.end();
        };
        let (one, two, ()) = tokio::join!(count(), count(), write);
        assert_eq!(one + two, 1000);
    }
}
