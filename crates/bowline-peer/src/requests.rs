//! Questions we were asked: each has one answer to give, and one place where it is given.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use bowline_protocol::{Failure, RequestId};
use tokio_util::sync::CancellationToken;

use crate::{frame, outbox::Outbox, pending::Outcome};

/// The questions that are being worked on.
#[derive(Debug)]
pub(crate) struct Requests {
    outbox: Arc<Outbox>,
    limit: usize,
    running: Mutex<HashMap<RequestId, Arc<Claim>>>,
}

/// The right to answer a question. Whoever takes it answers: the handler, the end of
/// the session, or nobody, if the asker withdrew.
#[derive(Debug, Default)]
struct Claim {
    taken: AtomicBool,
    cancel: CancellationToken,
}

impl Claim {
    fn take(&self) -> bool {
        !self.taken.swap(true, Ordering::AcqRel)
    }
}

impl Requests {
    pub(crate) fn new(outbox: Arc<Outbox>, limit: usize) -> Self {
        Self { outbox, limit, running: Mutex::default() }
    }

    /// Begins to work on a question. `None` if there is nothing to do: it is being
    /// worked on already, or there are too many and it was refused.
    pub(crate) fn begin(self: &Arc<Self>, id: &RequestId) -> Option<Answering> {
        let mut running = self.lock();
        let full = running.len() >= self.limit;
        match running.entry(id.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(_) if full => {
                self.refuse(id.clone(), "too many requests in flight");
                None
            }
            Entry::Vacant(place) => {
                let claim = place.insert(Arc::default()).clone();
                Some(Answering { requests: self.clone(), id: id.clone(), claim })
            }
        }
    }

    /// The asker no longer wants an answer.
    pub(crate) fn withdraw(&self, id: &RequestId) {
        let claim = self.lock().remove(id);
        if let Some(claim) = claim {
            claim.take();
            claim.cancel.cancel();
        }
    }

    /// Answers everything that is still open, because the session is over.
    pub(crate) fn close(&self) {
        let running = std::mem::take(&mut *self.lock());
        for (id, claim) in running {
            if claim.take() {
                self.refuse(id, "the session closed before there was an answer");
            }
            claim.cancel.cancel();
        }
    }

    /// Refuses a question, at once.
    pub(crate) fn refuse(&self, id: RequestId, why: impl Into<String>) {
        let failure = Failure { error: why.into(), ..Failure::default() };
        self.outbox.send_urgent(frame::response(id, Err(failure)));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Arc<Claim>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The work on one question. If it is dropped without an answer, it answers that.
#[derive(Debug)]
pub(crate) struct Answering {
    requests: Arc<Requests>,
    id: RequestId,
    claim: Arc<Claim>,
}

impl Answering {
    /// Fires when nobody wants the answer any more.
    pub(crate) fn cancel(&self) -> CancellationToken {
        self.claim.cancel.clone()
    }

    /// Gives the answer, when there is room for it and unless it was withdrawn.
    pub(crate) async fn answer(self, outcome: Outcome) {
        let line = frame::response(self.id.clone(), outcome);
        // A closed session needs no answer.
        self.requests.outbox.send(line, || self.claim.take()).await.ok();
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        if let Entry::Occupied(place) = self.requests.lock().entry(self.id.clone())
            && Arc::ptr_eq(place.get(), &self.claim)
        {
            place.remove();
        }
        if self.claim.take() {
            let why = match thread::panicking() {
                true => "the handler of this request panicked",
                false => "the handler of this request was stopped",
            };
            self.requests.refuse(self.id.clone(), why);
        }
    }
}
