//! Holder of an agent's newest connection, until its session takes it.

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Slot for one connection. A newer one replaces it.
#[derive(Debug)]
pub(super) struct Latest<T> {
    newest: Mutex<Option<T>>,
    arrived: Notify,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self { newest: Mutex::default(), arrived: Notify::new() }
    }
}

impl<T> Latest<T> {
    /// Puts one in. One that was not taken is dropped.
    pub(super) fn put(&self, item: T) {
        let older = self.swap(Some(item));
        self.arrived.notify_one();
        drop(older);
    }

    /// Takes what is there, or waits for it. One at a time may wait.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(super) async fn take(&self) -> T {
        loop {
            if let Some(item) = self.swap(None) {
                return item;
            }
            self.arrived.notified().await;
        }
    }

    fn swap(&self, item: Option<T>) -> Option<T> {
        let mut newest = self.newest.lock();
        std::mem::replace(&mut *newest, item)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn the_newest_is_taken_once_and_waited_for() {
        let slot = Latest::default();
        slot.put("older");
        slot.put("newer");
        assert_eq!(slot.take().await, "newer");
        assert!(slot.take().now_or_never().is_none(), "there is no other");
        let (taken, ()) = tokio::join!(slot.take(), async { slot.put("late") });
        assert_eq!(taken, "late");
    }
}
