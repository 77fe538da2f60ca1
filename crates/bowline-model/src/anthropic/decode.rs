//! The API's events and whole responses. No I/O.

use std::collections::VecDeque;

use bowline_protocol::{ApiMessage, StreamEvent};
use serde_json::Value;

use crate::{
    ErrorKind, ModelError, event,
    http::{Decoder, ErrorText},
    sse::SseEvent,
};

/// Reads the API's own event stream.
pub(super) struct AnthropicDecoder {
    origin: String,
    seen: Seen,
}

/// Progress of the response.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Nothing,
    Beginning,
    StopReason,
    End,
}

impl AnthropicDecoder {
    pub(super) fn new(origin: &str) -> Self {
        Self { origin: origin.to_owned(), seen: Seen::Nothing }
    }
}

impl Decoder for AnthropicDecoder {
    fn decode(
        &mut self,
        event: SseEvent,
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ModelError> {
        // The name repeats the type in the data, and some gateways leave it out.
        if event.name.as_deref() == Some("error") {
            return Err(error_event(&event.data));
        }
        let read = StreamEvent::parse(&event.data).map_err(|error| {
            let message = format!("{} sent an event that cannot be read: {error}", self.origin);
            ModelError::new(ErrorKind::Unreadable, message)
        })?;
        match &read {
            StreamEvent::Ping(_) => return Ok(()),
            StreamEvent::Error(_) => return Err(error_event(&event.data)),
            StreamEvent::MessageStart(_) => self.seen = Seen::Beginning,
            StreamEvent::MessageDelta(delta) if delta.delta.stop_reason.is_some() => {
                self.seen = Seen::StopReason;
            }
            StreamEvent::MessageStop(_) => self.seen = Seen::End,
            _ => {}
        }
        // Nothing can be added before `message_start`.
        if self.seen != Seen::Nothing {
            out.push_back(read);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut VecDeque<StreamEvent>) -> Result<(), ModelError> {
        let (kind, what) = match self.seen {
            Seen::End => return Ok(()),
            // Everything but the final event has arrived.
            Seen::StopReason => {
                out.push_back(event::message_stop());
                return Ok(());
            }
            Seen::Nothing => (ErrorKind::Unreadable, "is empty"),
            Seen::Beginning => (ErrorKind::StreamCut, "ended before it was complete"),
        };
        Err(ModelError::new(kind, format!("the response of {} {what}", self.origin)))
    }
}

/// The error that an error event means.
fn error_event(data: &str) -> ModelError {
    let text = match serde_json::from_str::<Value>(data) {
        Ok(json) => ErrorText::read(&json),
        Err(_) => ErrorText { message: Some(data.to_owned()), ..ErrorText::default() },
    };
    let message = text.message.unwrap_or_else(|| "the API reported an error".to_owned());
    ModelError {
        api_type: text.api_type,
        request_id: text.request_id,
        ..ModelError::new(ErrorKind::Api, message)
    }
}

/// Reads a response that came in one piece.
pub(super) fn read_whole(body: &[u8], origin: &str) -> Result<ApiMessage, ModelError> {
    serde_json::from_slice(body).map_err(|error| {
        // Some gateways report errors with a status of success.
        match serde_json::from_slice::<Value>(body) {
            Ok(json) if !json["error"].is_null() => error_event(&json.to_string()),
            _ => {
                let message = format!("{origin} sent a response that cannot be read: {error}");
                ModelError::new(ErrorKind::Unreadable, message)
            }
        }
    })
}
