//! Constructors of stream events, for responses that do not come as a stream.

use bowline_protocol::{
    ApiMessage, ContentBlock, ContentBlockDelta, ContentBlockStart, ContentBlockStop, Delta, Extra,
    InputJsonDelta, Maybe, MessageDelta, MessageStart, MessageStop, RawJson, SignatureDelta,
    StopDelta, StopReason, StreamEvent, TextBlock, TextDelta, ThinkingBlock, ThinkingDelta,
    ToolUseBlock, Usage,
};

/// `message_start` of this response.
pub(crate) fn message_start(id: String, model: String, usage: Usage) -> StreamEvent {
    let message = ApiMessage { id, model, usage, ..ApiMessage::default() };
    StreamEvent::MessageStart(Box::new(MessageStart { message, extra: Extra::new() }))
}

pub(crate) fn block_start(index: usize, content_block: ContentBlock) -> StreamEvent {
    let start = ContentBlockStart { index, content_block, extra: Extra::new() };
    StreamEvent::ContentBlockStart(Box::new(start))
}

pub(crate) fn block_stop(index: usize) -> StreamEvent {
    StreamEvent::ContentBlockStop(ContentBlockStop { index, extra: Extra::new() })
}

pub(crate) fn text_delta(index: usize, text: impl Into<String>) -> StreamEvent {
    delta(index, Delta::TextDelta(TextDelta { text: text.into(), extra: Extra::new() }))
}

pub(crate) fn thinking_delta(index: usize, thinking: impl Into<String>) -> StreamEvent {
    let thinking = thinking.into();
    delta(index, Delta::ThinkingDelta(ThinkingDelta { thinking, extra: Extra::new() }))
}

pub(crate) fn signature_delta(index: usize, signature: impl Into<String>) -> StreamEvent {
    let signature = signature.into();
    delta(index, Delta::SignatureDelta(SignatureDelta { signature, extra: Extra::new() }))
}

pub(crate) fn input_delta(index: usize, partial_json: impl Into<String>) -> StreamEvent {
    let partial_json = partial_json.into();
    delta(index, Delta::InputJsonDelta(InputJsonDelta { partial_json, extra: Extra::new() }))
}

fn delta(index: usize, delta: Delta) -> StreamEvent {
    let delta = ContentBlockDelta { index, delta, extra: Extra::new() };
    StreamEvent::ContentBlockDelta(Box::new(delta))
}

pub(crate) fn message_delta(stop_reason: Option<StopReason>, usage: Usage) -> StreamEvent {
    let delta = StopDelta { stop_reason, stop_sequence: Maybe::Null, extra: Extra::new() };
    StreamEvent::MessageDelta(Box::new(MessageDelta { delta, usage, extra: Extra::new() }))
}

pub(crate) fn message_stop() -> StreamEvent {
    StreamEvent::MessageStop(MessageStop::default())
}

/// A tool call without input yet.
pub(crate) fn empty_call(id: impl Into<String>, name: impl Into<String>) -> ContentBlock {
    let id = id.into().into();
    let input = RawJson::empty_object();
    ContentBlock::ToolUse(ToolUseBlock { id, name: name.into(), input, extra: Extra::new() })
}

/// A response that came in one piece, as the events it would have been streamed in.
pub(crate) fn events_of(message: ApiMessage) -> Vec<StreamEvent> {
    let ApiMessage { content, stop_reason, stop_sequence, usage, mut extra, .. } = message;
    // Known only at the end of a stream.
    let mut at_end = Extra::new();
    for key in ["stop_details", "container"] {
        at_end.extend(extra.remove(key).map(|value| (key.to_owned(), value)));
    }
    let start = ApiMessage {
        content: Vec::new(),
        // Known from the beginning, which a stream's is not.
        stop_reason: stop_reason.clone(),
        stop_sequence: stop_sequence.clone(),
        usage: usage.clone(),
        extra,
        ..message
    };
    let start = MessageStart { message: start, extra: Extra::new() };
    let mut events = vec![StreamEvent::MessageStart(Box::new(start))];
    for (index, block) in content.into_iter().enumerate() {
        push_block(&mut events, index, block);
    }
    let delta = StopDelta { stop_reason, stop_sequence: stop_sequence.into(), extra: at_end };
    let end = MessageDelta { delta, usage, extra: Extra::new() };
    events.push(StreamEvent::MessageDelta(Box::new(end)));
    events.push(message_stop());
    events
}

fn push_block(events: &mut Vec<StreamEvent>, index: usize, block: ContentBlock) {
    match block {
        ContentBlock::Text(TextBlock { text, extra }) => {
            let empty = TextBlock { text: String::new(), extra };
            events.push(block_start(index, ContentBlock::Text(empty)));
            events.push(text_delta(index, text));
        }
        ContentBlock::Thinking(ThinkingBlock { thinking, signature, extra }) => {
            let empty = ThinkingBlock { extra, ..ThinkingBlock::default() };
            events.push(block_start(index, ContentBlock::Thinking(empty)));
            events.push(thinking_delta(index, thinking));
            events.push(signature_delta(index, signature));
        }
        ContentBlock::ToolUse(mut call) => {
            let input = std::mem::replace(&mut call.input, RawJson::empty_object());
            events.push(block_start(index, ContentBlock::ToolUse(call)));
            events.push(input_delta(index, input.get()));
        }
        other => events.push(block_start(index, other)),
    }
    events.push(block_stop(index));
}
