//! Concurrency guard for direct tool calls: shared for concurrency-safe tools, exclusive otherwise.
//!
//! A slot is acquired before a call is checked, because what is allowed depends on what other calls do
//! (they change the current directory), and released while a permission request is pending, because
//! people take their time. Only a call that may run acquires it again.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use super::schedule::Concurrency;

/// The slots of a session: held by any number of concurrency-safe calls, or by one other call.
pub(crate) type CallSlots = Arc<RwLock<()>>;

/// An acquired slot, released when it is dropped.
pub(crate) struct CallSlot {
    slots: CallSlots,
    concurrency: Concurrency,
    /// `None` while permission is pending, and from then on if the call may not run.
    held: Mutex<Option<Held>>,
}

/// The lock that keeps other calls out.
enum Held {
    Shared { _guard: OwnedRwLockReadGuard<()> },
    Alone { _guard: OwnedRwLockWriteGuard<()> },
}

impl CallSlot {
    /// Waits for a slot.
    pub(crate) async fn acquire(slots: &CallSlots, concurrency: Concurrency) -> Self {
        let held = Held::wait(slots, concurrency).await;
        Self { slots: Arc::clone(slots), concurrency, held: Mutex::new(Some(held)) }
    }

    /// Lets other calls run.
    pub(crate) fn release(&self) {
        self.hold(None);
    }

    /// Waits for a slot again, after [`release`](Self::release).
    ///
    /// Cancel safety: dropping the future leaves the call without a slot.
    pub(crate) async fn acquire_again(&self) {
        self.hold(Some(Held::wait(&self.slots, self.concurrency).await));
    }

    fn hold(&self, held: Option<Held>) {
        *self.held.lock() = held;
    }
}

impl Held {
    async fn wait(slots: &CallSlots, concurrency: Concurrency) -> Self {
        let slots = Arc::clone(slots);
        match concurrency {
            Concurrency::Safe => Self::Shared { _guard: slots.read_owned().await },
            Concurrency::Exclusive => Self::Alone { _guard: slots.write_owned().await },
        }
    }
}
