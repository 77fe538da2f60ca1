//! Back-pressure on pings: pongs that the connection has buffered and not yet written.
//!
//! The WebSocket library responds to each ping by itself, into an unbounded buffer. Pings from an end
//! that does not read would fill it, so that end is not read either until its pongs are written.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Pongs that may wait to be written. Each takes 127 bytes at most.
const LIMIT: usize = 64;

/// Counts unwritten pongs against a limit.
#[derive(Debug, Default)]
pub(super) struct PongBudget {
    unwritten: AtomicUsize,
    written: Notify,
}

impl PongBudget {
    /// Records a received ping. Returns whether reading has to wait now.
    pub(super) fn ping_received(&self) -> bool {
        self.unwritten.fetch_add(1, Ordering::AcqRel) + 1 >= LIMIT
    }

    /// How many pongs are in the buffer.
    pub(super) fn unwritten(&self) -> usize {
        self.unwritten.load(Ordering::Acquire)
    }

    /// Records that so many pongs have been written.
    pub(super) fn written(&self, count: usize) {
        self.unwritten.fetch_sub(count, Ordering::AcqRel);
        self.written.notify_one();
    }

    /// Starts from zero, for another connection.
    pub(super) fn reset(&self) {
        self.unwritten.store(0, Ordering::Release);
    }

    /// Waits until another pong may be buffered.
    ///
    /// Cancel safety: dropping the future changes nothing.
    pub(super) async fn wait_for_capacity(&self) {
        while self.unwritten() >= LIMIT {
            self.written.notified().await;
        }
    }
}
