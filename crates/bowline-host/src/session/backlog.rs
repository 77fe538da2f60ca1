//! Messages of a session on their way to whoever reads them.
//!
//! The session puts them in and never waits; readers take them out when they please. A reader that
//! never reads costs no memory and holds up nobody.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bowline_protocol::Message;
use tokio::sync::Notify;

use crate::{error::Error, unread::Unread};

#[derive(Debug, Default)]
pub(super) struct Backlog {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    unread: Unread,
    ended: bool,
}

impl Backlog {
    /// Adds a message.
    pub(super) fn push(&self, message: Result<Message, Error>) {
        self.lock().unread.push(message);
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
                if let Some(message) = waiting.unread.pop() {
                    let more = !waiting.unread.is_empty();
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

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn message(number: usize) -> Message {
        Message::parse(&format!(r#"{{"type":"number","number":{number}}}"#)).unwrap()
    }

    #[tokio::test]
    async fn a_reader_waits_for_what_comes_until_nothing_does() {
        let backlog = Backlog::default();
        assert!(backlog.next().now_or_never().is_none(), "it may come");
        backlog.push(Ok(message(1)));
        assert!(backlog.next().await.is_some());
        assert!(backlog.next().now_or_never().is_none(), "more may come");
        backlog.end();
        assert!(backlog.next().await.is_none());
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
