//! Model that records the exchanges of another.

use std::{fmt, sync::Arc};

use bowline_protocol::StreamEvent;
use futures_util::{StreamExt, stream};

use super::{
    file::{LineOut, RecordFile, RecordedError},
    redact::Held,
};
use crate::{BoxFuture, EventStream, Model, ModelError, ModelRequest};

/// Forwards everything to a model and records it, but for token counts, which
/// nothing depends on.
pub struct Recorder {
    model: Arc<dyn Model>,
    file: Arc<RecordFile>,
}

impl Recorder {
    /// Records `model` into `file`, which several models may share.
    pub fn new(model: Arc<dyn Model>, file: Arc<RecordFile>) -> Self {
        Self { model, file }
    }
}

impl Model for Recorder {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move {
            let mut exchange = Exchange::begin(self.file.clone(), &request);
            match self.model.stream(request).await {
                Ok(events) => Ok(record(events, exchange)),
                Err(error) => {
                    exchange.end(Some(&error));
                    Err(error)
                }
            }
        })
    }

    fn count_tokens(
        &self,
        request: Arc<ModelRequest>,
    ) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        self.model.count_tokens(request)
    }
}

fn record(events: EventStream, exchange: Exchange) -> EventStream {
    let request_id = events.request_id().map(str::to_owned);
    if let Some(request_id) = &request_id {
        let file = &exchange.file;
        file.write(&LineOut::Begin { exchange: exchange.number, at_ms: file.now(), request_id });
    }
    let events = stream::unfold((events, exchange), |(mut events, mut exchange)| async move {
        let item = events.next().await;
        match &item {
            Some(Ok(event)) => exchange.event(event),
            Some(Err(error)) => exchange.end(Some(error)),
            None => exchange.end(None),
        }
        Some((item?, (events, exchange)))
    });
    EventStream::new(events).with_request_id(request_id)
}

/// One exchange. Its end is written exactly once, even if the caller is gone.
struct Exchange {
    file: Arc<RecordFile>,
    number: u64,
    held: Held,
    ended: bool,
}

impl Exchange {
    fn begin(file: Arc<RecordFile>, request: &ModelRequest) -> Self {
        let exchange = file.next_exchange();
        file.write(&LineOut::Request { exchange, at_ms: file.now(), request });
        Self { file, number: exchange, held: Held::default(), ended: false }
    }

    fn event(&mut self, event: &StreamEvent) {
        let Self { file, number, held, .. } = self;
        held.push(file.now(), event, file.redactor(), |at_ms, event| {
            file.write(&LineOut::Event { exchange: *number, at_ms, event });
        });
    }

    fn end(&mut self, error: Option<&ModelError>) {
        self.write_end(error.map(RecordedError::from), false);
    }

    fn write_end(&mut self, error: Option<RecordedError>, dropped: bool) {
        if !std::mem::replace(&mut self.ended, true) {
            let Self { file, number, held, .. } = self;
            held.release(|at_ms, event| {
                file.write(&LineOut::Event { exchange: *number, at_ms, event });
            });
            let at_ms = self.file.now();
            self.file.write(&LineOut::End { exchange: self.number, at_ms, error, dropped });
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.write_end(None, true);
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("file", &self.file).finish_non_exhaustive()
    }
}
