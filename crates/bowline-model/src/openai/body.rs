//! A request as the body of `POST /chat/completions`.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

use super::{LimitField, message::messages, names::on_wire};
use crate::{Delivery, ModelRequest, ToolChoice, ToolDefinition};

/// The body of one request.
pub(super) struct Body<'a> {
    request: &'a ModelRequest,
    messages: Vec<Value>,
    limit_field: LimitField,
}

impl<'a> Body<'a> {
    pub(super) fn new(request: &'a ModelRequest, limit_field: LimitField) -> Self {
        Self { request, messages: messages(request), limit_field }
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        let mut body = to.serialize_map(None)?;
        body.serialize_entry("model", &request.model)?;
        body.serialize_entry("messages", &self.messages)?;
        if request.delivery == Delivery::Stream {
            body.serialize_entry("stream", &true)?;
            body.serialize_entry("stream_options", &json!({ "include_usage": true }))?;
        }
        // Tools of the Anthropic API itself mean nothing here.
        let own = request.tools.iter().filter(|tool| tool.input_schema.get() != "null");
        let tools: Vec<Tool<'_>> = own.map(|tool| Tool(tool)).collect();
        if !tools.is_empty() {
            body.serialize_entry("tools", &tools)?;
            if let Some(choice) = &request.tool_choice {
                write_choice(&mut body, choice)?;
            }
        }
        if let Some(limit) = request.max_tokens {
            let field = match self.limit_field {
                LimitField::MaxTokens => "max_tokens",
                LimitField::MaxCompletionTokens => "max_completion_tokens",
            };
            body.serialize_entry(field, &limit)?;
        }
        if !request.stop_sequences.is_empty() {
            body.serialize_entry("stop", &request.stop_sequences)?;
        }
        // Sent only on request: many servers refuse the field. A budget
        // of thinking has no word here.
        if let Some(effort) = request.effort {
            body.serialize_entry("reasoning_effort", &effort)?;
        }
        if let Some(user) = &request.metadata.user_id {
            body.serialize_entry("user", user)?;
        }
        for (key, value) in translated(&request.extra) {
            body.serialize_entry(&key, &value)?;
        }
        body.end()
    }
}

/// A tool definition.
struct Tool<'a>(&'a ToolDefinition);

impl Serialize for Tool<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "str::is_empty")]
            description: &'a str,
            parameters: &'a bowline_protocol::RawJson,
            #[serde(skip_serializing_if = "Option::is_none")]
            strict: Option<&'a Value>,
        }

        let name = on_wire(&self.0.name);
        let function = Function {
            name: &name,
            description: &self.0.description,
            parameters: &self.0.input_schema,
            strict: self.0.extra.get("strict"),
        };
        let mut tool = to.serialize_map(Some(2))?;
        tool.serialize_entry("type", "function")?;
        tool.serialize_entry("function", &function)?;
        tool.end()
    }
}

fn write_choice<M: SerializeMap>(body: &mut M, choice: &ToolChoice) -> Result<(), M::Error> {
    let (choice, alone) = match choice {
        ToolChoice::Auto { disable_parallel_tool_use } => {
            (json!("auto"), *disable_parallel_tool_use)
        }
        ToolChoice::Any { disable_parallel_tool_use } => {
            (json!("required"), *disable_parallel_tool_use)
        }
        ToolChoice::Tool { name, disable_parallel_tool_use } => {
            let function = json!({ "type": "function", "function": { "name": on_wire(name) } });
            (function, *disable_parallel_tool_use)
        }
        ToolChoice::None => (json!("none"), false),
    };
    body.serialize_entry("tool_choice", &choice)?;
    if alone {
        body.serialize_entry("parallel_tool_calls", &false)?;
    }
    Ok(())
}

/// Further fields as these servers call them; those that only the Messages API knows
/// are left out.
fn translated(extra: &Map<String, Value>) -> Map<String, Value> {
    let mut fields = Map::new();
    for (key, value) in extra {
        match key.as_str() {
            "output_config" => {
                if let Some(schema) = value.pointer("/format/schema") {
                    let format = json!({
                        "type": "json_schema",
                        "json_schema": { "name": "answer", "schema": schema, "strict": true },
                    });
                    fields.insert("response_format".to_owned(), format);
                }
            }
            "context_management" | "container" | "cache_control" | "service_tier" | "speed"
            | "top_k" => {}
            _ => {
                fields.insert(key.clone(), value.clone());
            }
        }
    }
    fields
}
