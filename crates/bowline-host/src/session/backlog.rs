//! Messages of a session that nobody has read yet.
//!
//! The session puts them in and never waits; readers take them out when they please. The first
//! wait in memory, the others in temporary files, so that a reader that never reads costs no
//! memory and holds up nobody.

use std::{
    collections::VecDeque,
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bowline_peer::Spill;
use bowline_protocol::{Line, Message};
use tokio::sync::Notify;

use crate::Error;

/// Messages that wait in memory. A turn has some dozens.
const IN_MEMORY: usize = 256;

/// Errors that wait among the messages on disk. They stay in memory; an agent that says nothing but
/// nonsense is known for it after so many.
const ERRORS: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Backlog {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The oldest.
    memory: VecDeque<Result<Message, Error>>,
    /// Those behind them.
    spilled: Spill,
    /// Errors among the spilled, by how many of those come before each.
    errors: VecDeque<(u64, Error)>,
    /// Errors for which there was no room behind those.
    untold: u64,
    /// How many were ever spilled, and how many of those were taken back.
    written: u64,
    read: u64,
    ended: bool,
}

impl Backlog {
    /// Adds a message.
    pub(super) fn push(&self, message: Result<Message, Error>) {
        let mut waiting = self.lock();
        if waiting.is_spilling() || waiting.memory.len() >= IN_MEMORY {
            waiting.spill(message);
        } else {
            waiting.memory.push_back(message);
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Says that nothing more comes.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.arrived.notify_waiters();
    }

    /// The next message; `None` when the session has ended and all were read.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(super) async fn next(&self) -> Option<Result<Message, Error>> {
        // A reader with a long backlog lets others run too.
        tokio::task::coop::consume_budget().await;
        loop {
            let arrived = self.arrived.notified();
            tokio::pin!(arrived);
            // From here on `notify_waiters` counts.
            arrived.as_mut().enable();
            {
                let mut waiting = self.lock();
                if let Some(message) = waiting.pop() {
                    let more = !waiting.memory.is_empty() || waiting.is_spilling();
                    drop(waiting);
                    if more {
                        // Another reader may have been told of two messages only once.
                        self.arrived.notify_one();
                    }
                    return Some(message);
                }
                if waiting.ended {
                    return None;
                }
            }
            arrived.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
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
                let line = Line { number: self.written, offset: 0, text };
                self.written += 1;
                if let Err(error) = self.spilled.push(&line) {
                    tracing::warn!(%error, "unread messages stay in memory");
                }
            }
            Err(error) => tracing::error!(%error, "lost a message that cannot be written"),
        }
    }

    fn spill_error(&mut self, error: Error) {
        if error.is_about_one_message() && self.errors.len() >= ERRORS {
            self.untold += 1;
            return;
        }
        // What ends the session comes last, and always.
        let untold = self.untold_error().into_iter();
        self.errors.extend(untold.chain([error]).map(|error| (self.written, error)));
    }

    /// Says how many errors were left out.
    fn untold_error(&mut self) -> Option<Error> {
        let count = std::mem::take(&mut self.untold);
        (count > 0).then(|| Error::Json {
            line: String::new(),
            source: io::Error::other(format!("{count} more were not kept")).into(),
        })
    }

    fn pop(&mut self) -> Option<Result<Message, Error>> {
        if let Some(message) = self.memory.pop_front() {
            return Some(message);
        }
        if let Err(error) = self.refill() {
            // What was on disk is gone; what comes from now on is not.
            tracing::error!(%error, "lost unread messages");
            self.read = self.written;
            self.spilled = Spill::default();
            let what = "reading messages that waited on disk".to_owned();
            return Some(Err(Error::Connection { what, source: Some(error.into()) }));
        }
        self.memory.pop_front()
    }

    /// Takes the oldest block of spilled messages back.
    fn refill(&mut self) -> io::Result<()> {
        for line in self.spilled.pop_block()? {
            self.due_errors();
            self.read += 1;
            let message = Message::parse(&line.text);
            self.memory.push_back(message.map_err(|error| Error::Message {
                line: crate::error::beginning(&line.text),
                source: error.into(),
            }));
        }
        self.due_errors();
        Ok(())
    }

    /// Puts the errors that come now in their place.
    fn due_errors(&mut self) {
        while self.errors.front().is_some_and(|(place, _)| *place <= self.read) {
            self.memory.extend(self.errors.pop_front().map(|(_, error)| Err(error)));
            if self.errors.is_empty() {
                let untold = self.untold_error();
                self.memory.extend(untold.map(Err));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn message(number: usize) -> Message {
        Message::parse(&format!(r#"{{"type":"number","number":{number}}}"#)).unwrap()
    }

    #[tokio::test]
    async fn everything_comes_in_its_order_however_much_waits() {
        let backlog = Backlog::default();
        let mut expected = Vec::new();
        for number in 0..20 * IN_MEMORY {
            backlog.push(Ok(message(number)));
            expected.push(format!("{:?}", message(number)));
            if number % 1000 == 7 {
                backlog.push(Err(Error::Closed));
                expected.push("closed".to_owned());
            }
        }
        assert!(backlog.lock().memory.len() <= IN_MEMORY);
        let mut read = Vec::new();
        for _ in 0..expected.len() {
            let next = backlog.next().await.expect("they are all there");
            read.push(match next {
                Ok(message) => format!("{message:?}"),
                Err(error) => error.code().to_owned(),
            });
        }
        assert_eq!(read, expected);
        assert!(backlog.next().now_or_never().is_none(), "more may come");
        backlog.end();
        assert!(backlog.next().await.is_none());
    }

    #[tokio::test]
    async fn errors_that_nobody_reads_are_counted_and_the_last_is_kept() {
        let backlog = Backlog::default();
        for number in 0..IN_MEMORY + 1 {
            backlog.push(Ok(message(number)));
        }
        let nonsense =
            || Error::Json { line: String::new(), source: io::Error::other("odd").into() };
        for _ in 0..ERRORS + 10 {
            backlog.push(Err(nonsense()));
        }
        assert_eq!(backlog.lock().errors.len(), ERRORS);
        backlog.push(Err(Error::Closed));
        backlog.end();
        let mut errors = Vec::new();
        while let Some(next) = backlog.next().await {
            errors.extend(next.err().map(|error| error.to_string()));
        }
        assert_eq!(errors.len(), ERRORS + 2);
        assert!(errors[ERRORS].contains("10 more were not kept"), "{}", errors[ERRORS]);
        assert_eq!(errors[ERRORS + 1], Error::Closed.to_string());
    }

    #[tokio::test]
    async fn two_readers_share_and_both_hear_the_end() {
        let backlog = Backlog::default();
        let count = async || {
            let mut count = 0;
            while backlog.next().await.is_some() {
                count += 1;
            }
            count
        };
        let write = async {
            for number in 0..1000 {
                backlog.push(Ok(message(number)));
                tokio::task::yield_now().await;
            }
            backlog.end();
        };
        let (one, two, ()) = tokio::join!(count(), count(), write);
        assert_eq!(one + two, 1000);
    }
}
