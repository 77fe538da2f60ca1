//! Requests of the other end: each gets exactly one response, from the one owner of the right to respond.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bowline_protocol::{Failure, RequestId};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{frame, outbox::Outbox, outgoing::Outcome};

/// The requests of the other end that are in progress.
#[derive(Debug)]
pub(crate) struct IncomingRequests {
    outbox: Arc<Outbox>,
    open: Mutex<OpenRequests>,
}

#[derive(Debug, Default)]
struct OpenRequests {
    /// How many were ever begun: the key of the next.
    begun: u64,
    requests: HashMap<u64, OpenRequest>,
    /// The newest request with each id.
    by_id: HashMap<RequestId, u64>,
}

#[derive(Debug)]
struct OpenRequest {
    id: Option<RequestId>,
    claim: Arc<Claim>,
}

/// The right to respond to a request. The first to take it responds: the handler or the end of
/// the session. A cancellation may take it too, and then no response is sent.
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

impl OpenRequests {
    fn insert(&mut self, id: Option<RequestId>) -> (u64, Arc<Claim>) {
        let key = self.begun;
        self.begun += 1;
        if let Some(id) = &id {
            self.by_id.insert(id.clone(), key);
        }
        let claim = Arc::<Claim>::default();
        self.requests.insert(key, OpenRequest { id, claim: claim.clone() });
        (key, claim)
    }

    fn remove(&mut self, key: u64) -> Option<OpenRequest> {
        let request = self.requests.remove(&key)?;
        if let Some(id) = &request.id
            && self.by_id.get(id) == Some(&key)
        {
            self.by_id.remove(id);
        }
        Some(request)
    }
}

impl IncomingRequests {
    pub(crate) fn new(outbox: Arc<Outbox>) -> Self {
        Self { outbox, open: Mutex::default() }
    }

    /// Begins a request. One without an id gets a response without one.
    pub(crate) fn begin(self: &Arc<Self>, id: Option<RequestId>) -> OwedResponse {
        let (key, claim) = self.open.lock().insert(id.clone());
        OwedResponse { requests: self.clone(), key, id, claim }
    }

    /// Begins a request, unless it is in progress already or there are `limit`; then it is refused.
    pub(crate) fn begin_unique(
        self: &Arc<Self>,
        id: RequestId,
        limit: usize,
    ) -> Option<OwedResponse> {
        let mut open = self.open.lock();
        if open.by_id.contains_key(&id) {
            return None;
        }
        if open.requests.len() >= limit {
            drop(open);
            self.refuse(Some(id), "too many requests in flight");
            return None;
        }
        let (key, claim) = open.insert(Some(id.clone()));
        Some(OwedResponse { requests: self.clone(), key, id: Some(id), claim })
    }

    /// Cancels a request of which no response is expected any more: none is sent.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let cancelled = {
            let mut open = self.open.lock();
            let key = open.by_id.get(id).copied();
            key.and_then(|key| open.remove(key))
        };
        if let Some(OpenRequest { claim, .. }) = cancelled {
            claim.take();
            claim.cancel.cancel();
        }
    }

    /// Signals cancellation to the handler of a request, whose response is still sent.
    pub(crate) fn signal_cancel(&self, id: &RequestId) {
        let open = self.open.lock();
        if let Some(request) = open.by_id.get(id).and_then(|key| open.requests.get(key)) {
            request.claim.cancel.cancel();
        }
    }

    /// Refuses every request that is still open, because the session is over.
    pub(crate) fn close(&self) {
        let open = std::mem::take(&mut *self.open.lock());
        for OpenRequest { id, claim } in open.requests.into_values() {
            if claim.take() {
                self.refuse(id, "the session closed before there was a response");
            }
            claim.cancel.cancel();
        }
    }

    /// Refuses a request, at once.
    pub(crate) fn refuse(&self, id: Option<RequestId>, error: impl Into<String>) {
        let failure = Failure { error: error.into(), ..Failure::default() };
        self.outbox.send_urgent(frame::response(id, Err(failure)));
    }
}

/// The obligation to respond to one request. Dropped without a response, it refuses the request.
#[derive(Debug)]
pub(crate) struct OwedResponse {
    requests: Arc<IncomingRequests>,
    key: u64,
    id: Option<RequestId>,
    claim: Arc<Claim>,
}

impl OwedResponse {
    /// Fires when the request is cancelled, or the session is over.
    pub(crate) fn cancel_token(&self) -> CancellationToken {
        self.claim.cancel.clone()
    }

    /// Sends the response, when there is capacity for it and unless the request was cancelled.
    pub(crate) async fn respond(self, outcome: Outcome) {
        let line = frame::response(self.id.clone(), outcome);
        // A closed session needs no response.
        self.requests.outbox.send(line, || self.claim.take()).await.ok();
    }
}

impl Drop for OwedResponse {
    fn drop(&mut self) {
        self.requests.open.lock().remove(self.key);
        if self.claim.take() {
            self.requests.refuse(self.id.clone(), "the handler of this request was stopped");
        }
    }
}
