//! Pongs that the connection holds and has not written.
//!
//! The WebSocket library answers each ping by itself, into a buffer without a limit. Pings from an end
//! that does not read would fill it, so that end is not read either until its pongs are written.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Pongs that may wait to be written. Each takes 127 bytes at most.
const ROOM: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Pongs {
    owed: AtomicUsize,
    written: Notify,
}

impl Pongs {
    /// A ping has come. Whether reading has to wait now.
    pub(super) fn owe(&self) -> bool {
        self.owed.fetch_add(1, Ordering::AcqRel) + 1 >= ROOM
    }

    /// How many have been answered into the buffer so far.
    pub(super) fn owed(&self) -> usize {
        self.owed.load(Ordering::Acquire)
    }

    /// So many pongs have been written.
    pub(super) fn written(&self, count: usize) {
        self.owed.fetch_sub(count, Ordering::AcqRel);
        self.written.notify_one();
    }

    /// Another connection owes none.
    pub(super) fn forget(&self) {
        self.owed.store(0, Ordering::Release);
    }

    /// Waits until there is room for another one.
    ///
    /// Cancel safety: dropping the future changes nothing.
    pub(super) async fn wait_for_room(&self) {
        while self.owed() >= ROOM {
            self.written.notified().await;
        }
    }
}
