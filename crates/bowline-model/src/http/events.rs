//! From the body of an answer to stream events, by way of server-sent events.

use std::collections::VecDeque;

use bowline_protocol::StreamEvent;
use futures_util::stream;

use super::Answer;
use crate::{
    ErrorKind, EventStream, ModelError,
    sse::{SseEvent, SseParser},
};

/// How a provider's server-sent events become stream events. No I/O.
pub(crate) trait Decoder: Send + 'static {
    /// Reads one event of the server and adds what it means to `out`.
    fn decode(
        &mut self,
        event: SseEvent,
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ModelError>;

    /// The server has closed its stream properly: adds what is still to be said, or
    /// tells what is missing.
    fn finish(&mut self, out: &mut VecDeque<StreamEvent>) -> Result<(), ModelError>;
}

/// The stream events of an answer. They end with `message_stop` or an error.
pub(crate) fn events(answer: Answer, decoder: impl Decoder) -> EventStream {
    let request_id = answer.request_id();
    let reader = Reader {
        answer,
        decoder,
        parser: SseParser::default(),
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

struct Reader<D> {
    answer: Answer,
    decoder: D,
    parser: SseParser,
    ready: VecDeque<StreamEvent>,
    /// What comes after the events that are ready.
    failure: Option<ModelError>,
    ended: bool,
}

impl<D: Decoder> Reader<D> {
    async fn next(&mut self) -> Option<Result<StreamEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                if matches!(event, StreamEvent::MessageStop(_)) {
                    // Whatever follows belongs to no answer.
                    self.ready.clear();
                    self.failure = None;
                    self.ended = true;
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

    async fn read(&mut self) -> Result<(), ModelError> {
        match self.answer.chunk().await? {
            Some(chunk) => {
                let pushed = self.parser.push(chunk.as_ref());
                while let Some(event) = self.parser.next_event() {
                    self.decoder.decode(event, &mut self.ready)?;
                }
                pushed.map_err(|error| {
                    let message = format!("the answer of {}: {error}", self.answer.origin());
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
