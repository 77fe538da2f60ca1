//! Questions we have asked: who waits for which answer, and which were settled lately.

use std::{
    collections::{HashMap, VecDeque},
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bowline_protocol::{Failure, RequestId, Success};
use tokio::sync::oneshot;
use uuid::Uuid;

/// Settled questions that are remembered, so that a second answer is known for what it is.
const REMEMBERED: usize = 1000;

pub(crate) type Outcome = Result<Success, Failure>;

/// Why an answer finds nobody waiting for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stray {
    /// The question was answered already.
    Duplicate,
    /// The question was withdrawn, or its time was up.
    Late,
    /// No such question was asked, or too long ago to remember.
    Unknown,
}

#[derive(Debug)]
pub(crate) struct Pending {
    /// `None` once nobody is left to answer.
    open: Mutex<Option<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    waiting: HashMap<RequestId, oneshot::Sender<Outcome>>,
    /// The oldest first.
    settled: VecDeque<(RequestId, Stray)>,
}

impl Pending {
    pub(crate) fn new() -> Self {
        Self { open: Mutex::new(Some(Open::default())) }
    }

    /// Opens a question. `None` if nobody is left to answer.
    pub(crate) fn open(&self) -> Option<(RequestId, oneshot::Receiver<Outcome>)> {
        let id = RequestId(Uuid::new_v4().to_string());
        let (asker, answer) = oneshot::channel();
        self.lock().as_mut()?.waiting.insert(id.clone(), asker);
        Some((id, answer))
    }

    /// Gives an answer to whoever waits for it.
    pub(crate) fn answer(&self, id: &RequestId, outcome: Outcome) -> Result<(), Stray> {
        let mut open = self.lock();
        let open = open.as_mut().ok_or(Stray::Late)?;
        match open.waiting.remove(id) {
            // Who stopped waiting a moment ago withdraws by itself.
            Some(asker) => asker.send(outcome).ok(),
            None => {
                let settled = open.settled.iter().find(|(settled, _)| settled == id);
                return Err(settled.map_or(Stray::Unknown, |(_, how)| *how));
            }
        };
        open.settle(id.clone(), Stray::Duplicate);
        Ok(())
    }

    /// Takes a question back. `false` if it was settled already.
    pub(crate) fn withdraw(&self, id: &RequestId) -> bool {
        let mut open = self.lock();
        let Some(open) = open.as_mut() else { return false };
        let waited = open.waiting.remove(id).is_some();
        if waited {
            open.settle(id.clone(), Stray::Late);
        }
        waited
    }

    /// Nobody will answer any more: tells everybody who waits, at once.
    pub(crate) fn close(&self) {
        let open = mem::take(&mut *self.lock());
        drop(open);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn settle(&mut self, id: RequestId, how: Stray) {
        if self.settled.len() == REMEMBERED {
            self.settled.pop_front();
        }
        self.settled.push_back((id, how));
    }
}
