//! Stream events from the body of a response, by way of server-sent events (SSE).

use std::{collections::VecDeque, time::Duration};

use bowline_protocol::StreamEvent;
use futures_util::stream;

use super::{HttpResponse, limits::Received};
use crate::{
    ErrorKind, EventStream, ModelError,
    sse::{SseEvent, SseParser},
};

/// Decoder of a provider's server-sent events. No I/O.
pub(crate) trait Decoder: Send + 'static {
    /// Reads one event of the server and adds what it means to `out`.
    fn decode(
        &mut self,
        event: SseEvent,
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ModelError>;

    /// The server has closed its stream properly: adds the events that are still missing, or
    /// returns an error.
    fn finish(&mut self, out: &mut VecDeque<StreamEvent>) -> Result<(), ModelError>;
}

/// The stream events of a response. They end with `message_stop` or an error.
pub(crate) fn events(response: HttpResponse, decoder: impl Decoder) -> EventStream {
    let request_id = response.request_id();
    let reader = Reader {
        response,
        decoder,
        parser: SseParser::default(),
        received: Received::default(),
        ready: VecDeque::new(),
        failure: None,
        ended: false,
    };
    let events = stream::unfold(reader, |mut reader| async move {
        let event = reader.next().await?;
        Some((event, reader))
    });
    EventStream::new(events).with_request_id(request_id)
}

/// The end of a body comes with its last event or right after. Waiting a little for it
/// saves the next request a handshake; a server that never ends costs no more than this.
const WAIT_FOR_THE_END: Duration = Duration::from_millis(20);

struct Reader<D> {
    response: HttpResponse,
    decoder: D,
    parser: SseParser,
    received: Received,
    ready: VecDeque<StreamEvent>,
    /// State after the events that are ready.
    failure: Option<ModelError>,
    ended: bool,
}

impl<D: Decoder> Reader<D> {
    async fn next(&mut self) -> Option<Result<StreamEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                if let Err(failure) = self.received.event(&event, self.response.origin()) {
                    self.ready.clear();
                    self.ended = true;
                    return Some(Err(failure));
                }
                if matches!(event, StreamEvent::MessageStop(_)) {
                    self.hear_out().await;
                }
                return Some(Ok(event));
            }
            if let Some(failure) = self.failure.take() {
                self.ended = true;
                return Some(Err(failure));
            }
            if self.ended {
                return None;
            }
            if let Err(failure) = self.read().await {
                self.failure = Some(failure);
            }
        }
    }

    /// The response is complete; whatever follows is ignored. Only a body that
    /// is read to its end leaves a connection that can be used again.
    async fn hear_out(&mut self) {
        self.ready.clear();
        self.failure = None;
        if !std::mem::replace(&mut self.ended, true) {
            let rest = async { while matches!(self.response.chunk().await, Ok(Some(_))) {} };
            let _ = tokio::time::timeout(WAIT_FOR_THE_END, rest).await;
        }
    }

    async fn read(&mut self) -> Result<(), ModelError> {
        match self.response.chunk().await? {
            Some(chunk) => {
                self.received.bytes(chunk.as_ref().len(), self.response.origin())?;
                let pushed = self.parser.push(chunk.as_ref());
                while let Some(event) = self.parser.next_event() {
                    self.decoder.decode(event, &mut self.ready)?;
                }
                pushed.map_err(|error| {
                    let message = format!("the response of {}: {error}", self.response.origin());
                    ModelError::new(ErrorKind::Unreadable, message)
                })
            }
            None => {
                self.ended = true;
                if let Some(event) = self.parser.finish() {
                    self.decoder.decode(event, &mut self.ready)?;
                }
                self.decoder.finish(&mut self.ready)
            }
        }
    }
}
