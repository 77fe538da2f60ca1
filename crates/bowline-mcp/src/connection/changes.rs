//! Changed lists of a server, coalesced until they are read again.

use parking_lot::{Mutex, MutexGuard};
use rmcp::model::{JsonRpcMessage, ServerJsonRpcMessage, ServerNotification};
use tokio::sync::{Notify, watch};

/// Which lists have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl Changed {
    const TOOLS: Self = Self { tools: true, prompts: false, resources: false };
    const PROMPTS: Self = Self { tools: false, prompts: true, resources: false };
    const RESOURCES: Self = Self { tools: false, prompts: false, resources: true };

    /// The change that a notification of this method announces.
    pub(super) fn from_method(method: &str) -> Option<Self> {
        match method {
            "notifications/tools/list_changed" => Some(Self::TOOLS),
            "notifications/prompts/list_changed" => Some(Self::PROMPTS),
            "notifications/resources/list_changed" => Some(Self::RESOURCES),
            _ => None,
        }
    }

    /// The change that a message announces.
    pub(super) fn from_message(message: &ServerJsonRpcMessage) -> Option<Self> {
        let JsonRpcMessage::Notification(message) = message else { return None };
        match &message.notification {
            ServerNotification::ToolListChangedNotification(_) => Some(Self::TOOLS),
            ServerNotification::PromptListChangedNotification(_) => Some(Self::PROMPTS),
            ServerNotification::ResourceListChangedNotification(_) => Some(Self::RESOURCES),
            _ => None,
        }
    }
}

/// Collects changes for one reader, and lets others wait until it has caught up.
#[derive(Debug)]
pub(crate) struct Changes {
    collected: Mutex<Collected>,
    wake: Notify,
    /// How many changes the reader has dealt with.
    done: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Collected {
    changed: Changed,
    /// How many changes there were.
    count: u64,
}

impl Default for Changes {
    fn default() -> Self {
        Self { collected: Mutex::default(), wake: Notify::new(), done: watch::Sender::new(0) }
    }
}

impl Changes {
    /// Adds a change.
    pub(super) fn add(&self, change: Changed) {
        {
            let mut all = self.collected();
            all.changed.tools |= change.tools;
            all.changed.prompts |= change.prompts;
            all.changed.resources |= change.resources;
            all.count += 1;
        }
        self.wake.notify_one();
    }

    /// Takes what was collected, and how many changes that makes in all; waits until there is
    /// something.
    pub(super) async fn next(&self) -> (Changed, u64) {
        loop {
            let taken = {
                let mut all = self.collected();
                (std::mem::take(&mut all.changed), all.count)
            };
            if taken.0 != Changed::default() {
                return taken;
            }
            self.wake.notified().await;
        }
    }

    /// The reader has dealt with so many changes.
    pub(super) fn caught_up(&self, count: u64) {
        self.done.send_replace(count);
    }

    /// Whether the reader has dealt with all changes.
    pub(super) fn are_settled(&self) -> bool {
        *self.done.borrow() >= self.collected().count
    }

    /// Waits until the reader has dealt with all changes up to now.
    pub(super) async fn settled(&self) {
        let count = self.collected().count;
        // The sender is in `self`, so the wait cannot fail.
        let _ = self.done.subscribe().wait_for(|done| *done >= count).await;
    }

    fn collected(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock()
    }
}
