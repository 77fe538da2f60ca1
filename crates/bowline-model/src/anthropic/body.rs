//! A request as the body the API wants.
//!
//! It is written straight from the shared conversation; nothing is copied.

use bowline_protocol::{ContentBlock, Effort, Role, TextBlock};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::cache::{CacheMarks, Marked};
use crate::{
    Delivery, ModelMessage, ModelRequest, Thinking, ToolChoice, ToolDefinition,
    catalog::known_model,
};

/// Output limit of an unknown model; the API requires a number.
const FALLBACK_MAX_TOKENS: u64 = 32_000;

/// The body of `POST /v1/messages`.
pub(super) struct Body<'a> {
    request: &'a ModelRequest,
    shared: CountBody<'a>,
}

impl<'a> Body<'a> {
    pub(super) fn new(request: &'a ModelRequest) -> Self {
        Self { request, shared: CountBody::new(request) }
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        let max_tokens = request.max_tokens.unwrap_or_else(|| {
            known_model(&request.model).map_or(FALLBACK_MAX_TOKENS, |model| model.max_output)
        });
        let mut body = to.serialize_map(None)?;
        self.shared.write(&mut body)?;
        body.serialize_entry("max_tokens", &max_tokens)?;
        if request.delivery == Delivery::Stream {
            body.serialize_entry("stream", &true)?;
        }
        if !request.stop_sequences.is_empty() {
            body.serialize_entry("stop_sequences", &request.stop_sequences)?;
        }
        if request.metadata.user_id.is_some() {
            body.serialize_entry("metadata", &request.metadata)?;
        }
        for (key, value) in request.extra.iter().filter(|(key, _)| *key != "output_config") {
            body.serialize_entry(key, value)?;
        }
        body.end()
    }
}

/// The body of `POST /v1/messages/count_tokens`: what both calls have.
pub(super) struct CountBody<'a> {
    model: &'a str,
    system: Vec<Part<System<'a>>>,
    messages: Vec<Message<'a>>,
    tools: Vec<Part<&'a ToolDefinition>>,
    tool_choice: Option<&'a ToolChoice>,
    thinking: Option<Thinking>,
    output_config: Map<String, Value>,
}

impl<'a> CountBody<'a> {
    pub(super) fn new(request: &'a ModelRequest) -> Self {
        let marks = CacheMarks::choose(request);
        let system = request.system.iter().enumerate();
        let tools = request.tools.iter().enumerate();
        let messages = request.messages.iter().enumerate();
        Self {
            model: request.model.strip_suffix("[1m]").unwrap_or(&request.model),
            system: system
                .filter(|(_, block)| !block.text.trim().is_empty())
                .map(|(index, block)| {
                    let block = System { kind: "text", block };
                    match marks.system == Some(index) {
                        true => Part::Marked(Marked::new(block)),
                        false => Part::Plain(block),
                    }
                })
                .collect(),
            messages: messages
                .map(|(index, message)| Message::new(message, marks.in_message(index)))
                .filter(|message| !message.content.is_empty())
                .collect(),
            tools: tools
                .map(|(index, tool)| match marks.tool == Some(index) {
                    true => Part::Marked(Marked::new(&**tool)),
                    false => Part::Plain(&**tool),
                })
                .collect(),
            tool_choice: request.tool_choice.as_ref(),
            thinking: request.thinking,
            output_config: output_config(request),
        }
    }

    fn write<M: SerializeMap>(&self, body: &mut M) -> Result<(), M::Error> {
        body.serialize_entry("model", self.model)?;
        if !self.system.is_empty() {
            body.serialize_entry("system", &self.system)?;
        }
        body.serialize_entry("messages", &self.messages)?;
        if !self.tools.is_empty() {
            body.serialize_entry("tools", &self.tools)?;
        }
        if let Some(choice) = self.tool_choice {
            body.serialize_entry("tool_choice", choice)?;
        }
        if let Some(thinking) = self.thinking {
            body.serialize_entry("thinking", &thinking)?;
        }
        if !self.output_config.is_empty() {
            body.serialize_entry("output_config", &self.output_config)?;
        }
        Ok(())
    }
}

impl Serialize for CountBody<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut body = to.serialize_map(None)?;
        self.write(&mut body)?;
        body.end()
    }
}

/// The effort shares a field with whatever else configures the output.
fn output_config(request: &ModelRequest) -> Map<String, Value> {
    let mut config = match request.extra.get("output_config") {
        Some(Value::Object(config)) => config.clone(),
        _ => Map::new(),
    };
    if let Some(effort) = request.effort.map(Effort::as_str) {
        config.insert("effort".to_owned(), effort.into());
    }
    config
}

/// Content that may get a cache mark.
#[derive(Serialize)]
#[serde(untagged)]
enum Part<T> {
    Plain(T),
    Marked(Marked<T>),
}

#[derive(Serialize)]
struct System<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    block: &'a TextBlock,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'a Role,
    content: Vec<Part<&'a ContentBlock>>,
}

impl<'a> Message<'a> {
    fn new(message: &'a ModelMessage, mark: Option<usize>) -> Self {
        let blocks = message.content.iter().enumerate().filter(|(_, block)| is_accepted(block));
        let content = blocks.map(|(index, block)| match mark == Some(index) {
            true => Part::Marked(Marked::new(block)),
            false => Part::Plain(block),
        });
        Self { role: &message.role, content: content.collect() }
    }
}

/// The API refuses blank texts, and reasoning that it did not seal itself.
pub(super) fn is_accepted(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Text(text) => !text.text.trim().is_empty(),
        ContentBlock::Thinking(thinking) => !thinking.signature.is_empty(),
        _ => true,
    }
}
