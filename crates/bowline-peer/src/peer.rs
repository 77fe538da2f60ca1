//! A handle to the other end: send a message, make a request, close the session.

use std::{mem, sync::Arc, time::Duration};

use bowline_protocol::{Call, Failure, PendingRequest, RawJson, ReadError, Success};
use serde::Serialize;
use tokio::time;
use tokio_util::sync::CancellationToken;

use crate::{
    dispatch::Dispatcher,
    frame,
    incoming::IncomingRequests,
    outbox::{Closed, Outbox},
    outgoing::{OpenedRequest, OutgoingRequests},
};

/// A handle to the other end. Cheap to clone; does not keep the session open.
#[derive(Debug, Clone)]
pub struct Peer {
    shared: Arc<PeerState>,
    time_limit: Option<Duration>,
}

/// State that all handles and the session share.
#[derive(Debug)]
pub(crate) struct PeerState {
    pub(crate) outgoing: OutgoingRequests,
    pub(crate) incoming: Arc<IncomingRequests>,
    pub(crate) outbox: Arc<Outbox>,
    /// Fires when this end closes the session.
    pub(crate) closing: CancellationToken,
}

/// Why a message was not sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The session, or this end's output, is closed.
    #[error("the session is closed")]
    Closed,
    /// The message cannot be serialized.
    #[error("the message cannot be written as JSON: {0}")]
    Unwritable(#[source] serde_json::Error),
}

/// Why a request has no response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The other end has gone, or cannot respond any more.
    #[error("the session is closed")]
    Closed,
    /// The other end responded with an error.
    #[error("the other end refused: {}", .0.error)]
    Refused(Box<Failure>),
    /// The time limit has passed. The request was cancelled.
    #[error("no response within {0:?}")]
    TimedOut(Duration),
    /// The request cannot be serialized.
    #[error("the request cannot be written as JSON: {0}")]
    Unwritable(#[source] serde_json::Error),
    /// The response does not have the expected form.
    #[error("unexpected response: {0}")]
    Unreadable(#[source] ReadError),
}

impl CallError {
    /// The code of a refusal that has one, as in `unsupported_request`.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(failure) => failure.error_code.as_deref(),
            _ => None,
        }
    }
}

impl From<Closed> for SendError {
    fn from(Closed: Closed) -> Self {
        Self::Closed
    }
}

impl From<Closed> for CallError {
    fn from(Closed: Closed) -> Self {
        Self::Closed
    }
}

impl Peer {
    pub(crate) fn new(shared: Arc<PeerState>, time_limit: Option<Duration>) -> Self {
        Self { shared, time_limit }
    }

    /// The same peer, with another time limit for the requests made through it.
    pub fn within(&self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self.clone() }
    }

    /// The same peer, without a time limit for the requests made through it.
    pub fn without_time_limit(&self) -> Self {
        Self { time_limit: None, ..self.clone() }
    }

    /// Sends a message. Waits for capacity in the queue, not for the write.
    ///
    /// Cancel safety: the message is sent whole or, when the future is dropped before
    /// it is ready, not at all.
    pub async fn send(&self, message: &impl Serialize) -> Result<(), SendError> {
        let line = frame::line(message).map_err(SendError::Unwritable)?;
        Ok(self.shared.outbox.send(line, || true).await?)
    }

    /// Sends JSON text as it is, as a relay does. It is not parsed.
    ///
    /// Cancel safety: as for [`send`](Self::send).
    pub async fn send_line(&self, json: String) -> Result<(), SendError> {
        Ok(self.shared.outbox.send(frame::one_line(json), || true).await?)
    }

    /// Makes a request and waits for its response.
    ///
    /// Cancel safety: dropping the future cancels the request.
    pub async fn request<C: Call>(&self, call: C) -> Result<C::Response, CallError> {
        let request = self.open(&call.into())?;
        let success = self.settle(request).await?;
        C::read_response(success.response.as_ref()).map_err(CallError::Unreadable)
    }

    /// Like [`request`](Self::request); while it waits, it is among the
    /// [`listed_requests`](Self::listed_requests).
    ///
    /// Cancel safety: dropping the future cancels the request.
    pub async fn request_listed<C: Call>(&self, call: C) -> Result<C::Response, CallError> {
        let request = self.open(&call.into())?;
        self.shared.outgoing.list(&request.opened, C::SUBTYPE, &request.line);
        let success = self.settle(request).await?;
        C::read_response(success.response.as_ref()).map_err(CallError::Unreadable)
    }

    /// The [listed](Self::request_listed) requests of this subtype that have no response, oldest
    /// first, as they were sent: for an end that connects again and has lost them.
    pub fn listed_requests(&self, subtype: &str) -> Vec<PendingRequest> {
        self.shared.outgoing.listed(subtype)
    }

    /// Makes a request and waits for the body of its response, which an
    /// acknowledgement does not have.
    ///
    /// Cancel safety: dropping the future cancels the request.
    pub async fn request_raw(
        &self,
        request: &impl Serialize,
    ) -> Result<Option<RawJson>, CallError> {
        self.request_envelope(request).await.map(|success| success.response)
    }

    /// Makes a request and waits for its response with the envelope, in which the response to
    /// `initialize` lists pending requests.
    ///
    /// Cancel safety: dropping the future cancels the request.
    pub async fn request_envelope(&self, request: &impl Serialize) -> Result<Success, CallError> {
        let request = self.open(request)?;
        self.settle(request).await
    }

    /// A dispatcher of the other end's requests, for
    /// [`RequestRouting::Inbox`](crate::RequestRouting::Inbox).
    pub fn dispatcher(&self, limit: usize) -> Dispatcher {
        Dispatcher::new(self.shared.incoming.clone(), limit)
    }

    /// Ends this end's output: what is queued is still written, then our direction of the link is
    /// closed. The other end may continue to send.
    pub fn end_output(&self) {
        self.shared.outbox.close();
    }

    /// Waits until nothing more can be sent: the session has ended, or its output, or the
    /// other end has stopped reading.
    ///
    /// Cancel safety: dropping the future changes nothing.
    pub async fn output_ended(&self) {
        self.shared.outbox.closed().await;
    }

    /// Closes the session: reads no more, finishes the responses within the time that
    /// [`Options`](crate::Options) grant, and closes the link.
    pub fn close(&self) {
        self.shared.closing.cancel();
    }

    fn open(&self, request: &impl Serialize) -> Result<InFlight<'_>, CallError> {
        let opened = self.shared.outgoing.open().ok_or(CallError::Closed)?;
        let mut in_flight =
            InFlight { shared: &self.shared, opened, line: String::new(), sent: false };
        in_flight.line =
            frame::request(&in_flight.opened.id, request).map_err(CallError::Unwritable)?;
        Ok(in_flight)
    }

    async fn settle(&self, request: InFlight<'_>) -> Result<Success, CallError> {
        match self.time_limit {
            Some(limit) => time::timeout(limit, request.settle())
                .await
                .unwrap_or(Err(CallError::TimedOut(limit))),
            None => request.settle().await,
        }
    }
}

/// A request in flight. Cancels itself if dropped without a response.
struct InFlight<'a> {
    shared: &'a PeerState,
    opened: OpenedRequest,
    line: String,
    /// The line is queued, so that a cancellation has to follow it.
    sent: bool,
}

impl InFlight<'_> {
    async fn settle(mut self) -> Result<Success, CallError> {
        self.shared.outbox.send(mem::take(&mut self.line), || true).await?;
        self.sent = true;
        let outcome = (&mut self.opened.response).await.map_err(|_| CallError::Closed)?;
        outcome.map_err(|failure| CallError::Refused(Box::new(failure)))
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if self.shared.outgoing.cancel(&self.opened.id) && self.sent {
            self.shared.outbox.send_urgent(frame::cancellation(&self.opened.id));
        }
    }
}
