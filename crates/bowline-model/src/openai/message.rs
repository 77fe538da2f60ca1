//! A conversation in chat-completions messages.

use bowline_protocol::{Content, ContentBlock, DocumentBlock, Role, Source, ToolResultBlock};
use serde_json::{Value, json};

use super::names::on_wire;
use crate::{ModelMessage, ModelRequest};

/// The system prompt and the conversation.
pub(super) fn messages(request: &ModelRequest) -> Vec<Value> {
    let mut messages = Vec::new();
    let system: Vec<&str> = request.system.iter().map(|block| block.text.as_str()).collect();
    if !system.is_empty() {
        messages.push(json!({ "role": "system", "content": system.join("\n\n") }));
    }
    for message in &request.messages {
        match message.role {
            Role::Assistant => messages.extend(assistant_message(message)),
            Role::System => {
                let text = Content::Blocks(message.content.clone()).to_text();
                messages.push(json!({ "role": "system", "content": text }));
            }
            _ => push_prompt(&mut messages, message),
        }
    }
    messages
}

/// Assistant message. Its reasoning is left out: these servers do not accept it.
fn assistant_message(message: &ModelMessage) -> Option<Value> {
    let texts: Vec<&str> = message.content.iter().filter_map(ContentBlock::as_text).collect();
    let calls = message.content.iter().filter_map(|block| match block {
        ContentBlock::ToolUse(call) => Some(json!({
            "id": call.id,
            "type": "function",
            "function": { "name": on_wire(&call.name), "arguments": call.input.get() },
        })),
        _ => None,
    });
    let calls: Vec<Value> = calls.collect();
    let text = texts.join("\n");
    let content = if text.is_empty() { Value::Null } else { text.into() };
    match (content, calls.is_empty()) {
        (Value::Null, true) => None,
        (content, true) => Some(json!({ "role": "assistant", "content": content })),
        (content, false) => {
            Some(json!({ "role": "assistant", "content": content, "tool_calls": calls }))
        }
    }
}

/// User messages: tool results first, as every call needs its result
/// before any other content.
fn push_prompt(messages: &mut Vec<Value>, message: &ModelMessage) {
    let mut parts: Vec<Value> = Vec::new();
    for block in &message.content {
        match block {
            ContentBlock::ToolResult(result) => messages.push(tool_result(result, &mut parts)),
            block => parts.extend(part(block)),
        }
    }
    match parts.as_slice() {
        [] => {}
        // Simple servers only know plain texts.
        [only] if only["type"] == "text" => {
            messages.push(json!({ "role": "user", "content": only["text"] }));
        }
        _ => messages.push(json!({ "role": "user", "content": parts })),
    }
}

/// Result of a tool. Only text fits into it; pictures follow as the user's.
fn tool_result(result: &ToolResultBlock, parts: &mut Vec<Value>) -> Value {
    let mut texts: Vec<String> = Vec::new();
    let failed = result.is_error == Some(true);
    match &result.content {
        None => {}
        Some(Content::Text(text)) => texts.push(text.clone()),
        Some(Content::Blocks(blocks)) => {
            for part in blocks.iter().filter_map(part) {
                match part["text"].as_str() {
                    Some(text) => texts.push(text.to_owned()),
                    None => {
                        let id = &result.tool_use_id;
                        texts.push("(see the attachment in the next message)".to_owned());
                        let label = format!("Attachment of the result of tool call {id}:");
                        parts.extend([json!({ "type": "text", "text": label }), part]);
                    }
                }
            }
        }
    }
    let text = texts.join("\n");
    let text = if failed { format!("Error: {text}") } else { text };
    json!({ "role": "tool", "tool_call_id": result.tool_use_id, "content": text })
}

/// One part of a user's message; `None` for what has no meaning here.
fn part(block: &ContentBlock) -> Option<Value> {
    let text = |text: &str| Some(json!({ "type": "text", "text": text }));
    match block {
        ContentBlock::Text(block) => text(&block.text),
        ContentBlock::Image(image) => match &image.source {
            Source::Base64(bytes) => {
                let url = format!("data:{};base64,{}", bytes.media_type, bytes.data);
                Some(json!({ "type": "image_url", "image_url": { "url": url } }))
            }
            Source::Url(at) => Some(json!({ "type": "image_url", "image_url": { "url": at.url } })),
            _ => text("(an image that this server cannot be shown)"),
        },
        ContentBlock::Document(document) => Some(document_part(document)),
        ContentBlock::SearchResult(found) => {
            let passage = Content::Blocks(found.content.clone()).to_text();
            text(&format!("{} ({})\n{passage}", found.title, found.source))
        }
        ContentBlock::ToolReference(tool) => text(&format!("Tool: {}", tool.tool_name)),
        _ => None,
    }
}

fn document_part(document: &DocumentBlock) -> Value {
    let title = document.title.as_deref();
    let titled = |text: &str| {
        let heading = [title, document.context.as_deref()].into_iter().flatten();
        let lines: Vec<&str> = heading.chain([text]).collect();
        json!({ "type": "text", "text": lines.join("\n") })
    };
    match &document.source {
        Source::Text(text) => titled(&text.data),
        Source::Content(blocks) => titled(&blocks.content.to_text()),
        Source::Base64(bytes) => json!({
            "type": "file",
            "file": {
                "filename": title.unwrap_or("document.pdf"),
                "file_data": format!("data:{};base64,{}", bytes.media_type, bytes.data),
            },
        }),
        Source::Url(at) => titled(&format!("(a document at {})", at.url)),
        _ => titled("(a document that this server cannot be shown)"),
    }
}
