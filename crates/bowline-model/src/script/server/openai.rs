//! The chat-completions dialect.

use std::sync::Arc;

use bowline_protocol::{
    ApiMessage, Content, ContentBlock, Delta, Extra, ImageBlock, Maybe, RawJson, Source,
    StopReason, StreamEvent, TextBlock, ToolResultBlock, ToolUseBlock, UrlSource, Usage,
};
use serde_json::{Value, json};

use super::dialect::Dialect;
use crate::{Delivery, ModelError, ModelMessage, ModelRequest, ToolDefinition};

/// Chat completions, and the fields that all chunks of one response repeat.
#[derive(Debug, Default)]
pub(super) struct OpenAi {
    id: String,
    model: String,
    /// Whether the client requested token counts.
    counts: bool,
    usage: Usage,
    calls: usize,
}

impl Dialect for OpenAi {
    fn read(&mut self, body: &[u8]) -> Result<ModelRequest, String> {
        let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let Some(messages) = body["messages"].as_array() else {
            return Err("messages is missing".to_owned());
        };
        self.counts = body["stream_options"]["include_usage"] == true;
        let model = body["model"].as_str().unwrap_or_default();
        let mut request = ModelRequest::new(model);
        if body["stream"] != true {
            request.delivery = Delivery::Whole;
        }
        for message in messages {
            read_message(message, &mut request);
        }
        let tools = body["tools"].as_array().into_iter().flatten().map(|tool| {
            let function = &tool["function"];
            Arc::new(ToolDefinition {
                name: text_of(&function["name"]),
                description: text_of(&function["description"]),
                input_schema: function["parameters"].clone().into(),
                extra: Extra::new(),
            })
        });
        request.tools = tools.collect();
        Ok(request)
    }

    fn write_event(&mut self, event: &StreamEvent, out: &mut String) {
        match event {
            StreamEvent::MessageStart(start) => {
                self.id.clone_from(&start.message.id);
                self.model.clone_from(&start.message.model);
                self.usage = start.message.usage.clone();
                self.write_delta(json!({ "role": "assistant", "content": "" }), out);
            }
            StreamEvent::ContentBlockStart(start) => {
                if let ContentBlock::ToolUse(call) = &start.content_block {
                    let function = json!({ "name": call.name, "arguments": "" });
                    let piece = json!({
                        "index": self.calls, "id": call.id, "type": "function",
                        "function": function,
                    });
                    self.calls += 1;
                    self.write_delta(json!({ "tool_calls": [piece] }), out);
                }
            }
            StreamEvent::ContentBlockDelta(delta) => match &delta.delta {
                Delta::TextDelta(delta) => self.write_delta(json!({ "content": delta.text }), out),
                Delta::ThinkingDelta(delta) => {
                    self.write_delta(json!({ "reasoning_content": delta.thinking }), out);
                }
                Delta::InputJsonDelta(delta) => {
                    let function = json!({ "arguments": delta.partial_json });
                    let index = self.calls.saturating_sub(1);
                    let piece = json!({ "index": index, "function": function });
                    self.write_delta(json!({ "tool_calls": [piece] }), out);
                }
                _ => {}
            },
            StreamEvent::MessageDelta(delta) => {
                self.usage = delta.usage.clone();
                let reason = finish_reason(delta.delta.stop_reason.as_ref());
                let choice = json!({ "index": 0, "delta": {}, "finish_reason": reason });
                self.write_chunk(json!([choice]), None, out);
            }
            StreamEvent::MessageStop(_) => {
                if self.counts {
                    self.write_chunk(json!([]), Some(counts(&self.usage)), out);
                }
                out.push_str("data: [DONE]\n\n");
            }
            _ => {}
        }
    }

    fn write_error(&mut self, error: &ModelError, out: &mut String) {
        let body = json!({ "message": error.message, "type": error.api_type, "code": null });
        write_data(&json!({ "error": body }), out);
    }

    fn whole(&self, message: ApiMessage) -> Value {
        let text: String = message.content.iter().filter_map(ContentBlock::as_text).collect();
        let thought: String = message.content.iter().filter_map(thought_of).collect();
        let calls = message.content.iter().filter_map(|block| match block {
            ContentBlock::ToolUse(call) => {
                let function = json!({ "name": call.name, "arguments": call.input.get() });
                Some(json!({ "id": call.id, "type": "function", "function": function }))
            }
            _ => None,
        });
        let calls: Vec<Value> = calls.collect();
        let mut body = json!({ "role": "assistant", "content": text });
        if !thought.is_empty() {
            body["reasoning_content"] = thought.into();
        }
        if !calls.is_empty() {
            body["tool_calls"] = calls.into();
        }
        let reason = finish_reason(message.stop_reason.as_ref());
        json!({
            "id": message.id, "object": "chat.completion", "created": 0, "model": message.model,
            "choices": [{ "index": 0, "message": body, "finish_reason": reason }],
            "usage": counts(&message.usage),
        })
    }
}

impl OpenAi {
    fn write_delta(&self, delta: Value, out: &mut String) {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": null });
        self.write_chunk(json!([choice]), None, out);
    }

    fn write_chunk(&self, choices: Value, usage: Option<Value>, out: &mut String) {
        let mut chunk = json!({
            "id": self.id, "object": "chat.completion.chunk", "created": 0, "model": self.model,
            "choices": choices,
        });
        if let Some(usage) = usage {
            chunk["usage"] = usage;
        }
        write_data(&chunk, out);
    }
}

fn write_data(data: &Value, out: &mut String) {
    out.push_str(&format!("data: {data}\n\n"));
}

fn finish_reason(reason: Option<&StopReason>) -> &'static str {
    match reason {
        Some(StopReason::ToolUse) => "tool_calls",
        Some(StopReason::MaxTokens) => "length",
        Some(StopReason::Refusal) => "content_filter",
        _ => "stop",
    }
}

fn counts(usage: &Usage) -> Value {
    let count = |tokens: &Maybe<u64>| tokens.as_ref().copied().unwrap_or(0);
    let read = count(&usage.cache_read_input_tokens);
    let written = count(&usage.cache_creation_input_tokens);
    let input = count(&usage.input_tokens) + read + written;
    let output = count(&usage.output_tokens);
    json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": read, "cache_write_tokens": written },
    })
}

fn thought_of(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Thinking(block) => Some(&block.thinking),
        _ => None,
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Adds a message to a request, in the Messages API's terms.
fn read_message(message: &Value, request: &mut ModelRequest) {
    let content = &message["content"];
    match message["role"].as_str() {
        Some("system" | "developer") => {
            let text = Content::Blocks(read_content(content)).to_text();
            request.system.push(TextBlock { text, extra: Extra::new() });
        }
        Some("assistant") => {
            let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
                let arguments = text_of(&call["function"]["arguments"]);
                ContentBlock::ToolUse(ToolUseBlock {
                    id: text_of(&call["id"]).into(),
                    name: text_of(&call["function"]["name"]),
                    input: RawJson::from_text(arguments).unwrap_or_default(),
                    extra: Extra::new(),
                })
            });
            let content = read_content(content).into_iter().chain(calls).collect();
            request.messages.push(Arc::new(ModelMessage::assistant(content)));
        }
        Some("tool") => {
            let result = ContentBlock::ToolResult(ToolResultBlock {
                tool_use_id: text_of(&message["tool_call_id"]).into(),
                content: Some(Content::Blocks(read_content(content))),
                is_error: None,
                extra: Extra::new(),
            });
            request.messages.push(Arc::new(ModelMessage::user(vec![result])));
        }
        _ => {
            let content = read_content(content);
            request.messages.push(Arc::new(ModelMessage::user(content)));
        }
    }
}

fn read_content(content: &Value) -> Vec<ContentBlock> {
    match content {
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![ContentBlock::text(text)],
        Value::Array(parts) => parts.iter().map(read_part).collect(),
        _ => Vec::new(),
    }
}

fn read_part(part: &Value) -> ContentBlock {
    match part["image_url"]["url"].as_str() {
        Some(url) => ContentBlock::Image(ImageBlock {
            source: Source::Url(UrlSource { url: url.to_owned(), extra: Extra::new() }),
            extra: Extra::new(),
        }),
        None => ContentBlock::text(text_of(&part["text"])),
    }
}
