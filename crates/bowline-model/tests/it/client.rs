//! Asking models and showing what they say in a line per event.

use std::sync::Arc;

use bowline_model::{
    Anthropic, AnthropicConfig, EventStream, MessageFold, Model, ModelError, ModelMessage,
    ModelRequest, OpenAi, OpenAiConfig, Timeouts,
};
use bowline_protocol::{
    ApiMessage, ContentBlock, Delta, Extra, StreamEvent, ToolResultBlock, ToolUseBlock,
};
use futures_util::StreamExt;
use serde_json::Value;

/// A request with one prompt.
pub(crate) fn prompt(text: &str) -> ModelRequest {
    conversation(vec![ModelMessage::user(vec![ContentBlock::text(text)])])
}

/// A request with this conversation.
pub(crate) fn conversation(messages: Vec<ModelMessage>) -> ModelRequest {
    let messages = messages.into_iter().map(Arc::new).collect();
    ModelRequest { messages, ..ModelRequest::new("m") }
}

/// A tool call.
pub(crate) fn call(id: &str, name: &str, input: Value) -> ContentBlock {
    let (id, name, input) = (id.into(), name.to_owned(), input.into());
    ContentBlock::ToolUse(ToolUseBlock { id, name, input, extra: Extra::new() })
}

/// A tool result.
pub(crate) fn result(id: &str, text: &str) -> ContentBlock {
    ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id: id.into(),
        content: Some(text.into()),
        ..ToolResultBlock::default()
    })
}

/// The Anthropic provider at a server of our own.
pub(crate) fn anthropic(url: &str) -> Anthropic {
    let config = AnthropicConfig { base_url: Some(url.to_owned()), ..AnthropicConfig::default() };
    Anthropic::new(&config, Timeouts::default()).unwrap()
}

/// The chat-completions provider at a server of our own.
pub(crate) fn openai(url: &str) -> OpenAi {
    let config = OpenAiConfig { base_url: Some(format!("{url}/v1")), ..OpenAiConfig::default() };
    OpenAi::new(&config, Timeouts::default()).unwrap()
}

/// Events of a model response.
pub(crate) async fn events(
    model: &impl Model,
    request: ModelRequest,
) -> Result<Vec<StreamEvent>, ModelError> {
    collect(model.stream(Arc::new(request)).await?).await
}

pub(crate) async fn collect(mut stream: EventStream) -> Result<Vec<StreamEvent>, ModelError> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event?);
    }
    Ok(events)
}

/// Response of a model, a line per event or failure.
pub(crate) async fn event_lines(model: &impl Model, request: ModelRequest) -> String {
    let mut stream = match model.stream(Arc::new(request)).await {
        Ok(stream) => stream,
        Err(error) => return show_error(&error),
    };
    let mut lines = String::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => lines.push_str(&show(&event)),
            Err(error) => lines.push_str(&show_error(&error)),
        }
        lines.push('\n');
    }
    lines
}

fn show_error(error: &ModelError) -> String {
    format!("failed: {:?}", error.kind)
}

fn show(event: &StreamEvent) -> String {
    match event {
        StreamEvent::MessageStart(start) => {
            format!("start {} {}", start.message.id, start.message.model)
        }
        StreamEvent::ContentBlockStart(start) => match &start.content_block {
            ContentBlock::ToolUse(call) => {
                format!("{} calls {} as {}", start.index, call.name, call.id)
            }
            block => format!("{} begins {}", start.index, kind_of(block)),
        },
        StreamEvent::ContentBlockDelta(delta) => match &delta.delta {
            Delta::TextDelta(text) => format!("{} {:?}", delta.index, text.text),
            Delta::ThinkingDelta(text) => format!("{} {:?}", delta.index, text.thinking),
            Delta::SignatureDelta(seal) => format!("{} sealed {:?}", delta.index, seal.signature),
            Delta::InputJsonDelta(input) => format!("{} {}", delta.index, input.partial_json),
            other => format!("{} {other:?}", delta.index),
        },
        StreamEvent::ContentBlockStop(stop) => format!("{} ends", stop.index),
        StreamEvent::MessageDelta(delta) => {
            let reason = delta.delta.stop_reason.as_ref().map_or("null", |reason| reason.as_str());
            let count = |tokens: &bowline_protocol::Maybe<u64>| match tokens.as_ref() {
                Some(count) => count.to_string(),
                None => "?".to_owned(),
            };
            let usage = &delta.usage;
            let (input, output) = (count(&usage.input_tokens), count(&usage.output_tokens));
            format!("stops for {reason}, {input} in, {output} out")
        }
        StreamEvent::MessageStop(_) => "end".to_owned(),
        other => format!("{other:?}"),
    }
}

fn kind_of(block: &ContentBlock) -> String {
    let json = serde_json::to_value(block).unwrap();
    json["type"].as_str().unwrap().to_owned()
}

/// What the events add up to.
pub(crate) fn fold(events: &[StreamEvent]) -> ApiMessage {
    let mut fold = MessageFold::new();
    for event in events {
        fold.apply(event);
    }
    fold.into_message()
}
