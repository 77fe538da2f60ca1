//! Dispatch of the other end's requests: started in order, completed concurrently, one response each.

use std::{future::poll_fn, panic::AssertUnwindSafe, sync::Arc, task::Poll};

use bowline_protocol::{Failure, RequestId};
use futures_util::{FutureExt, future::BoxFuture};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    incoming::{IncomingRequests, OwedResponse},
    outgoing::Outcome,
};

/// The response to a request, and what happens only after it was sent.
#[must_use = "a response has to be sent"]
pub struct Response {
    outcome: Outcome,
    delivered: Option<BoxFuture<'static, ()>>,
}

impl Response {
    /// A response. The dispatcher fills in its `request_id`.
    pub fn new(outcome: Outcome) -> Self {
        Self { outcome, delivered: None }
    }

    /// A refusal with this message.
    pub fn refusal(error: impl Into<String>) -> Self {
        Self::new(Err(Failure { error: error.into(), ..Failure::default() }))
    }

    /// Runs `then` after the response was queued, in front of everything that `then` sends.
    pub fn delivered(mut self, then: impl Future<Output = ()> + Send + 'static) -> Self {
        self.delivered = Some(Box::pin(then));
        self
    }
}

impl From<Outcome> for Response {
    fn from(outcome: Outcome) -> Self {
        Self::new(outcome)
    }
}

impl std::fmt::Debug for Response {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Response").field("outcome", &self.outcome).finish_non_exhaustive()
    }
}

/// Runs handlers of requests and sends their responses.
///
/// Every request gets exactly one response, also if its handler panics, is dropped, or is still
/// running when the session closes. Dropping the dispatcher stops its handlers.
#[derive(Debug)]
pub struct Dispatcher {
    requests: Arc<IncomingRequests>,
    handlers: JoinSet<()>,
    limit: usize,
}

impl Dispatcher {
    pub(crate) fn new(requests: Arc<IncomingRequests>, limit: usize) -> Self {
        Self { requests, handlers: JoinSet::new(), limit }
    }

    /// Starts a handler. What it can do at once is done when this returns, in order with the
    /// caller's other work; the rest runs concurrently.
    ///
    /// A request without an id gets a response without one. The token fires on
    /// [`cancel`](Self::cancel) and when the session closes; the handler still owes its response.
    pub async fn dispatch<F>(
        &mut self,
        id: Option<RequestId>,
        handler: impl FnOnce(CancellationToken) -> F,
    ) where
        F: Future<Output = Response> + Send + 'static,
    {
        let owed = self.requests.begin(id);
        let handler = handler(owed.cancel_token());
        let mut handling = complete(owed, handler).boxed();
        if poll_fn(|context| Poll::Ready(handling.as_mut().poll(context))).await.is_pending() {
            self.handlers.spawn(handling);
        }
    }

    /// Runs a handler to its end, for a request that those after it have to wait for.
    pub async fn run<F>(
        &mut self,
        id: Option<RequestId>,
        handler: impl FnOnce(CancellationToken) -> F,
    ) where
        F: Future<Output = Response> + Send,
    {
        let owed = self.requests.begin(id);
        let handler = handler(owed.cancel_token());
        complete(owed, handler).await;
    }

    /// Starts a handler concurrently, unless its request is in progress already. Beyond the limit
    /// the request is refused.
    pub(crate) fn spawn<F>(&mut self, id: RequestId, handler: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = Response> + Send + 'static,
    {
        let Some(owed) = self.requests.begin_unique(id, self.limit) else { return };
        let handler = handler(owed.cancel_token());
        self.handlers.spawn(complete(owed, handler));
    }

    /// Fires the token of a request.
    pub fn cancel(&self, id: &RequestId) {
        self.requests.signal_cancel(id);
    }

    /// Whether fewer handlers run than the limit allows.
    pub fn has_capacity(&self) -> bool {
        self.handlers.len() < self.limit
    }

    /// Waits until a handler has completed; forever while there is none.
    ///
    /// Cancel safety: dropping the future changes nothing.
    pub async fn join_next(&mut self) {
        match self.handlers.join_next().await {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::error!(%error, "a request handler failed"),
            None => std::future::pending().await,
        }
    }

    /// Waits until all handlers have completed.
    pub async fn join_all(&mut self) {
        while !self.handlers.is_empty() {
            self.join_next().await;
        }
    }
}

/// Runs a handler, sends its response, and then lets its consequences happen.
async fn complete(owed: OwedResponse, handler: impl Future<Output = Response>) {
    match AssertUnwindSafe(handler).catch_unwind().await {
        Ok(Response { outcome, delivered }) => {
            owed.respond(outcome).await;
            if let Some(delivered) = delivered
                && AssertUnwindSafe(delivered).catch_unwind().await.is_err()
            {
                tracing::error!("what follows a response panicked");
            }
        }
        Err(_) => {
            tracing::error!("a request handler panicked");
            let failure = Failure {
                error: "the handler of this request panicked".to_owned(),
                ..Failure::default()
            };
            owed.respond(Err(failure)).await;
        }
    }
}
