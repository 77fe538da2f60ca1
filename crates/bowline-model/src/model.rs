//! Trait of everything that responds to model requests.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bowline_protocol::StreamEvent;
use futures_util::{Stream, future::BoxFuture};

use crate::{ModelError, ModelRequest};

/// The events of one response, in the form of the Messages API for every provider.
///
/// - The first event is `message_start`; blocks come one at a time, their indexes
///   rising; the last event is `message_stop`. Then the stream ends.
/// - A response that fails ends with one `Err`: an `error` event of the API becomes
///   [`ErrorKind::Api`](crate::ErrorKind::Api), a connection closed too early
///   [`ErrorKind::StreamCut`](crate::ErrorKind::StreamCut). Neither `ping` nor
///   `error` appears as an event.
/// - Events, deltas and blocks this version does not know are passed on.
///
/// Dropping the stream closes the connection.
pub struct EventStream {
    events: Pin<Box<dyn Stream<Item = Result<StreamEvent, ModelError>> + Send>>,
    request_id: Option<String>,
}

impl EventStream {
    /// A response of these events.
    pub fn new(
        events: impl Stream<Item = Result<StreamEvent, ModelError>> + Send + 'static,
    ) -> Self {
        Self { events: Box::pin(events), request_id: None }
    }

    /// Adds the server's name for the request.
    pub fn with_request_id(self, request_id: Option<String>) -> Self {
        Self { request_id, ..self }
    }

    /// The server's name for the request, if it gave one.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }
}

impl Stream for EventStream {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.as_mut().poll_next(context)
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").field("request_id", &self.request_id).finish_non_exhaustive()
    }
}

/// A model: responds to requests.
pub trait Model: Send + Sync + 'static {
    /// Makes one attempt at one request and returns once the response has started.
    ///
    /// Nothing is retried here. A request with [`Delivery::Whole`](crate::Delivery::Whole)
    /// yields the same events, made from the whole response.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future or the stream closes the connection; nothing keeps running.
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>>;

    /// Counts the input tokens of a request; `None` if the provider cannot.
    fn count_tokens(
        &self,
        request: Arc<ModelRequest>,
    ) -> BoxFuture<'_, Result<Option<u64>, ModelError>>;
}
