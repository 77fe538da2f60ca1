//! Stream events for a host that wants partial messages.

use bowline_protocol::{
    AbandonedBlocks, Extra, Maybe, MessageDelta, MessageUuid, StopDelta, StreamEvent,
    StreamEventMessage, Usage,
};
use serde_json::Value;

use super::{TurnRun, some};
use crate::{clock::millis, response::ModelResponse, usage};

impl TurnRun<'_> {
    /// Whether the host wants stream events.
    pub(super) fn streams(&self) -> bool {
        self.agent.session.config.include_partial_messages && self.agent.identity.is_main()
    }

    pub(super) async fn forward(&mut self, event: StreamEvent) {
        let mut frame = self.stream_frame(event);
        if let StreamEvent::MessageStart(_) = &frame.event {
            let first = self.response.as_ref().and_then(|response| response.timing.first_event);
            frame.ttft_ms = first.map(millis);
            if !self.announced {
                frame.user_message_uuid = self.prompts.last().cloned();
                frame.user_message_uuids = some(self.prompts.clone());
            }
        }
        self.send(frame).await;
    }

    pub(super) fn stream_frame(&self, event: StreamEvent) -> StreamEventMessage {
        let mut frame = StreamEventMessage::new(
            event,
            MessageUuid::default(),
            self.agent.session.sink.session_id(),
        );
        frame.api_message_id = self.response.as_ref().map(|response| response.message().id.clone());
        frame
    }

    /// Closes a broken stream with the events that a host which saw its beginning expects.
    pub(super) async fn close_stream(&mut self) {
        let shown =
            self.response.as_ref().filter(|response| self.streams() && response.is_streamed());
        let Some(response) = shown else { return };
        let abandoned = abandoned(response, 0);
        for event in response.fold().closing_events() {
            let mut frame = self.stream_frame(event);
            frame.abandoned_blocks = ends(&frame).then(|| abandoned.clone());
            self.send(frame).await;
        }
    }

    /// The same for an interrupted stream, with a `message_delta` without a stop reason.
    pub(super) async fn abort_stream(&mut self) {
        let shown =
            self.response.as_ref().filter(|response| self.streams() && response.is_streamed());
        let Some(response) = shown else { return };
        let mut closing = response.fold().closing_events();
        if closing.is_empty() {
            return;
        }
        let usage = usage::with_counts(response.opening_usage());
        closing.insert(closing.len() - 1, aborted_delta(usage));
        let abandoned = abandoned(response, self.shown_partly);
        for event in closing {
            let mut frame = self.stream_frame(event);
            frame.abandoned_blocks = ends(&frame).then(|| abandoned.clone());
            self.send(frame).await;
        }
    }

    /// Sends a frame. (`&mut` because a response in progress is not `Sync`.)
    pub(super) async fn send(&mut self, frame: impl crate::sink::Frame) {
        self.agent.session.sink.send(frame).await;
    }
}

/// The blocks of a broken response that the host will not receive: those after the complete and the
/// partly sent ones.
fn abandoned(response: &ModelResponse, shown_partly: usize) -> AbandonedBlocks {
    let message = response.message();
    let from_block_index = message.content.len() + shown_partly;
    AbandonedBlocks { api_message_id: message.id.clone(), from_block_index, extra: Extra::new() }
}

/// Whether the frame ends its message.
fn ends(frame: &StreamEventMessage) -> bool {
    matches!(frame.event, StreamEvent::MessageStop(_))
}

/// The end of a cancelled response: no stop reason, no more tokens.
fn aborted_delta(usage: Usage) -> StreamEvent {
    let nulls =
        |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
    StreamEvent::MessageDelta(Box::new(MessageDelta {
        delta: StopDelta {
            stop_reason: None,
            stop_sequence: Maybe::Null,
            extra: nulls(&["container", "stop_details"]),
        },
        usage,
        extra: nulls(&["context_management"]),
    }))
}
