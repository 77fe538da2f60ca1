//! Which of a server's lists have changed. However often it says so, it is one change until
//! somebody looks.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// Which lists have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl Changed {
    /// What a notification of this name says.
    pub(crate) fn from_method(method: &str) -> Option<Self> {
        let none = Self::default();
        match method {
            "notifications/tools/list_changed" => Some(Self { tools: true, ..none }),
            "notifications/prompts/list_changed" => Some(Self { prompts: true, ..none }),
            "notifications/resources/list_changed" => Some(Self { resources: true, ..none }),
            _ => None,
        }
    }
}

/// Collects changes for one reader.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    collected: Mutex<Changed>,
    wake: Notify,
}

impl Changes {
    /// Adds a change.
    pub(crate) fn add(&self, change: Changed) {
        {
            let mut all = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
            all.tools |= change.tools;
            all.prompts |= change.prompts;
            all.resources |= change.resources;
        }
        self.wake.notify_one();
    }

    /// Takes what was collected; waits until there is something.
    pub(crate) async fn next(&self) -> Changed {
        loop {
            let taken = {
                let mut all = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut *all)
            };
            if taken != Changed::default() {
                return taken;
            }
            self.wake.notified().await;
        }
    }
}
