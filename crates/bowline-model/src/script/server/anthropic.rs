//! The Messages API's dialect.

use std::{borrow::Cow, sync::Arc};

use bowline_protocol::{
    ApiMessage, Content, ContentBlock, Extra, Head, RawJson, Role, StreamEvent,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::dialect::Dialect;
use crate::{Delivery, ModelError, ModelMessage, ModelRequest, ToolDefinition};

/// The Messages API.
pub(super) struct Anthropic;

#[derive(Deserialize)]
struct Incoming {
    #[serde(default)]
    model: String,
    #[serde(default)]
    system: Content,
    messages: Vec<IncomingMessage>,
    #[serde(default)]
    tools: Vec<IncomingTool>,
    #[serde(default)]
    max_tokens: Option<u64>,
    #[serde(default)]
    stream: bool,
}

#[derive(Deserialize)]
struct IncomingMessage {
    role: Role,
    content: Content,
}

#[derive(Deserialize)]
struct IncomingTool {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    input_schema: RawJson,
}

impl Dialect for Anthropic {
    fn read(&mut self, body: &[u8]) -> Result<ModelRequest, String> {
        let body: Incoming = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let system = body.system.into_blocks().into_iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text),
            _ => None,
        });
        let messages = body.messages.into_iter().map(|message| {
            let content = message.content.into_blocks();
            Arc::new(ModelMessage { role: message.role, content })
        });
        let tools = body.tools.into_iter().map(|tool| {
            let IncomingTool { name, description, input_schema } = tool;
            Arc::new(ToolDefinition { name, description, input_schema, extra: Extra::new() })
        });
        Ok(ModelRequest {
            system: system.collect(),
            messages: messages.collect(),
            tools: tools.collect(),
            max_tokens: body.max_tokens,
            delivery: if body.stream { Delivery::Stream } else { Delivery::Whole },
            ..ModelRequest::new(body.model)
        })
    }

    fn write_event(&mut self, event: &StreamEvent, out: &mut String) {
        let data = serde_json::to_string(event).expect("an event always serializes");
        let name = Head::read(&data).map_or(Cow::Borrowed("error"), |head| head.kind);
        write_named(&name, &data, out);
    }

    fn write_error(&mut self, error: &ModelError, out: &mut String) {
        let body = json!({ "type": error.api_type, "message": error.message });
        write_named("error", &json!({ "type": "error", "error": body }).to_string(), out);
    }

    fn whole(&self, message: ApiMessage) -> Value {
        json!(message)
    }
}

fn write_named(name: &str, data: &str, out: &mut String) {
    out.extend(["event: ", name, "\ndata: ", data, "\n\n"]);
}
