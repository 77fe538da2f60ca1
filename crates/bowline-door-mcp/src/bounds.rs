//! Bounds of what one client may have under way over pipes.
//!
//! A permit travels with its request, in the request's extensions, and is given back when the handler
//! has dropped it: also for a request that is cancelled, whose response is never sent.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, ClientRequest, GetExtensions, RequestId},
};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::handler::MAX_CALLS;

/// Requests at a time that are answered without waiting for anything. More wait to be read.
const QUICK_REQUESTS: usize = 64;

/// Other requests at a time: as many as there are places for calls. More are refused.
const SLOW_REQUESTS: usize = MAX_CALLS;

/// Messages to the client that wait to be written. While there are so many, nothing is read.
const OUTGOING: usize = 64;

/// What is under way.
#[derive(Debug)]
pub(crate) struct Bounds {
    quick: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    /// For the quick request that is admitted next.
    permit: Option<OwnedSemaphorePermit>,
    outgoing: Arc<Outgoing>,
}

#[derive(Debug, Default)]
struct Outgoing {
    count: AtomicUsize,
    sent: Notify,
}

/// A message that waits to be written, or is being written.
#[derive(Debug)]
pub(crate) struct Queued(Arc<Outgoing>);

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
        self.0.sent.notify_one();
    }
}

/// A request that is not taken in.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) id: RequestId,
    pub(crate) error: ErrorData,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            quick: Arc::new(Semaphore::new(QUICK_REQUESTS)),
            slow: Arc::new(Semaphore::new(SLOW_REQUESTS)),
            permit: None,
            outgoing: Arc::default(),
        }
    }
}

impl Bounds {
    /// Counts a message to the client for as long as the guard lives.
    pub(crate) fn queue(&self) -> Queued {
        self.outgoing.count.fetch_add(1, Ordering::AcqRel);
        Queued(Arc::clone(&self.outgoing))
    }

    /// Waits until the client has read enough to be heard again.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(crate) async fn wait_for_reader(&self) {
        while self.outgoing.count.load(Ordering::Acquire) >= OUTGOING {
            self.outgoing.sent.notified().await;
        }
    }

    /// Waits until this message may be admitted: a quick request until another one is answered. One
    /// that takes long is never waited for, because what ends it may be the message after it.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(crate) async fn wait_for(&mut self, next: Option<&ClientJsonRpcMessage>) {
        if self.permit.is_none() && next.is_some_and(is_quick) {
            self.permit = Arc::clone(&self.quick).acquire_owned().await.ok();
        }
    }

    /// Admits a message, or refuses a request for which there is no room.
    pub(crate) fn admit(
        &mut self,
        mut message: ClientJsonRpcMessage,
    ) -> Result<ClientJsonRpcMessage, Refused> {
        let permit = match is_quick(&message) {
            true => self.permit.take(),
            false => None,
        };
        if let ClientJsonRpcMessage::Request(request) = &mut message {
            let permit = permit.or_else(|| Arc::clone(&self.slow).try_acquire_owned().ok());
            let Some(permit) = permit else {
                let error = ErrorData::internal_error("too many requests are in flight", None);
                return Err(Refused { id: request.id.clone(), error });
            };
            request.request.extensions_mut().insert(Arc::new(permit));
        }
        Ok(message)
    }
}

/// Whether it is a request that is answered from memory.
fn is_quick(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else { return false };
    matches!(
        request.request,
        ClientRequest::PingRequest(_)
            | ClientRequest::InitializeRequest(_)
            | ClientRequest::DiscoverRequest(_)
            | ClientRequest::CompleteRequest(_)
            | ClientRequest::SetLevelRequest(_)
            | ClientRequest::ListPromptsRequest(_)
            | ClientRequest::ListResourcesRequest(_)
            | ClientRequest::ListResourceTemplatesRequest(_)
            | ClientRequest::ListToolsRequest(_)
            | ClientRequest::CustomRequest(_)
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use tokio::time::timeout;

    use super::*;

    fn request(method: &str) -> ClientJsonRpcMessage {
        let params = json!({"name": "Bash", "arguments": {}});
        let params = if method == "tools/call" { params } else { json!({}) };
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        serde_json::from_value(request).unwrap()
    }

    /// Whether there is room for a message.
    async fn is_taken(bounds: &mut Bounds, message: &ClientJsonRpcMessage) -> bool {
        let room = async {
            bounds.wait_for_reader().await;
            bounds.wait_for(Some(message)).await;
        };
        timeout(Duration::from_secs(1), room).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn calls_beyond_the_places_are_refused_and_nothing_else_is() {
        let mut bounds = Bounds::default();
        let mut running = Vec::new();
        for _ in 0..SLOW_REQUESTS {
            assert!(is_taken(&mut bounds, &request("tools/call")).await);
            running.push(bounds.admit(request("tools/call")).unwrap());
        }
        let refused = bounds.admit(request("tools/call")).unwrap_err();
        assert_eq!(refused.error.message, "too many requests are in flight");
        assert_eq!(refused.id, RequestId::Number(7));
        // What ends a call still comes through.
        let cancelled = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1},
        });
        let cancelled: ClientJsonRpcMessage = serde_json::from_value(cancelled).unwrap();
        assert!(is_taken(&mut bounds, &cancelled).await);
        bounds.admit(cancelled).unwrap();
        running.pop();
        bounds.admit(request("tools/call")).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn quick_requests_wait_for_each_other() {
        let mut bounds = Bounds::default();
        let mut running = Vec::new();
        for _ in 0..QUICK_REQUESTS {
            assert!(is_taken(&mut bounds, &request("ping")).await);
            running.push(bounds.admit(request("ping")).unwrap());
        }
        assert!(!is_taken(&mut bounds, &request("ping")).await);
        assert!(is_taken(&mut bounds, &request("tools/call")).await);
        running.pop();
        assert!(is_taken(&mut bounds, &request("ping")).await);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_are_not_accepted_while_the_outgoing_queue_is_full() {
        let mut bounds = Bounds::default();
        let mut queued: Vec<_> = (0..OUTGOING).map(|_| bounds.queue()).collect();
        assert!(!is_taken(&mut bounds, &request("tools/call")).await);
        queued.pop();
        assert!(is_taken(&mut bounds, &request("tools/call")).await);
    }
}
