//! Requests to the other end: who waits for which response, and which were settled lately.

use std::collections::{HashMap, VecDeque};

use bowline_protocol::{Failure, PendingRequest, RequestId, Success};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use uuid::Uuid;

/// Settled requests that are remembered, to recognize duplicate and late responses.
const REMEMBERED: usize = 1000;

pub(crate) type Outcome = Result<Success, Failure>;

/// Why a response has no request that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrayResponse {
    /// The request has its response already.
    Duplicate,
    /// The request was cancelled, or has timed out.
    Late,
    /// There was no such request, or it is too long ago to remember.
    Unknown,
}

/// The one table of our requests in flight.
#[derive(Debug)]
pub(crate) struct OutgoingRequests {
    /// `None` once no responses can arrive.
    open: Mutex<Option<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    /// How many were ever listed: the number of the newest.
    listed: u64,
    waiting: HashMap<RequestId, Waiter>,
    /// The oldest first.
    settled: VecDeque<(RequestId, StrayResponse)>,
}

#[derive(Debug)]
struct Waiter {
    response: oneshot::Sender<Outcome>,
    listed: Option<Listed>,
}

/// A request that [`OutgoingRequests::listed`] shows to an end that connects again.
#[derive(Debug)]
struct Listed {
    number: u64,
    subtype: &'static str,
    line: String,
}

/// A request that has just been opened.
#[derive(Debug)]
pub(crate) struct OpenedRequest {
    pub(crate) id: RequestId,
    pub(crate) response: oneshot::Receiver<Outcome>,
}

impl OutgoingRequests {
    pub(crate) fn new() -> Self {
        Self { open: Mutex::new(Some(Open::default())) }
    }

    /// Opens a request. `None` if no response can arrive any more.
    pub(crate) fn open(&self) -> Option<OpenedRequest> {
        let id = RequestId(Uuid::new_v4().to_string());
        let (sender, response) = oneshot::channel();
        let waiter = Waiter { response: sender, listed: None };
        self.open.lock().as_mut()?.waiting.insert(id.clone(), waiter);
        Some(OpenedRequest { id, response })
    }

    /// Keeps the line of an open request for [`listed`](Self::listed).
    pub(crate) fn list(&self, opened: &OpenedRequest, subtype: &'static str, line: &str) {
        if let Some(open) = &mut *self.open.lock()
            && let Some(waiter) = open.waiting.get_mut(&opened.id)
        {
            open.listed += 1;
            waiter.listed = Some(Listed { number: open.listed, subtype, line: line.to_owned() });
        }
    }

    /// The lines of listed requests of this subtype that have no response, oldest first.
    pub(crate) fn listed(&self, subtype: &str) -> Vec<PendingRequest> {
        let open = self.open.lock();
        let waiting = open.iter().flat_map(|open| open.waiting.values());
        let mut listed: Vec<_> = waiting
            .filter_map(|waiter| waiter.listed.as_ref())
            .filter(|listed| listed.subtype == subtype)
            .collect();
        listed.sort_by_key(|listed| listed.number);
        listed
            .into_iter()
            .filter_map(|listed| PendingRequest::from_text(listed.line.clone()).ok())
            .collect()
    }

    /// Hands a response to the request that waits for it.
    pub(crate) fn settle(&self, id: &RequestId, outcome: Outcome) -> Result<(), StrayResponse> {
        let mut open = self.open.lock();
        let open = open.as_mut().ok_or(StrayResponse::Late)?;
        match open.waiting.remove(id) {
            // A caller that stopped waiting a moment ago cancels by itself.
            Some(waiter) => waiter.response.send(outcome).ok(),
            None => {
                let settled = open.settled.iter().find(|(settled, _)| settled == id);
                return Err(settled.map_or(StrayResponse::Unknown, |(_, how)| *how));
            }
        };
        open.remember(id.clone(), StrayResponse::Duplicate);
        Ok(())
    }

    /// Cancels a request. `false` if it was settled already.
    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        let mut open = self.open.lock();
        let Some(open) = open.as_mut() else { return false };
        let waited = open.waiting.remove(id).is_some();
        if waited {
            open.remember(id.clone(), StrayResponse::Late);
        }
        waited
    }

    /// No responses can arrive any more: fails every request that waits, at once.
    pub(crate) fn close(&self) {
        let open = self.open.lock().take();
        drop(open);
    }
}

impl Open {
    fn remember(&mut self, id: RequestId, how: StrayResponse) {
        if self.settled.len() == REMEMBERED {
            self.settled.pop_front();
        }
        self.settled.push_back((id, how));
    }
}
