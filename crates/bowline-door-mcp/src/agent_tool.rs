//! Definition of the tool `agent`: its name, description and schemas.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// The name of the tool.
pub(crate) const NAME: &str = "agent";

/// The tool as clients see it.
pub(crate) fn tool() -> Tool {
    let description = "Give a task to a coding agent that works on its own: it reads and edits \
        files, runs commands and answers with what it did. Pass session_id from an earlier answer \
        to go on with that conversation.";
    let input = json!({
        "type": "object",
        "properties": {
            "prompt": {"type": "string", "description": "The task, or what to say next"},
            "session_id": {"type": "string", "description": "The session to go on with"},
        },
        "required": ["prompt"],
        "additionalProperties": false,
    });
    let output = json!({
        "type": "object",
        "properties": {
            "session_id": {"type": "string"},
            "result": {"type": "string"},
            "is_error": {"type": "boolean"},
            "subtype": {"type": "string"},
            "num_turns": {"type": "integer"},
            "duration_ms": {"type": "integer"},
            "total_cost_usd": {"type": "number"},
            "permission_denials": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["session_id", "result", "is_error"],
    });
    let annotations = ToolAnnotations::new()
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(true);
    Tool::new(NAME, description, object(input))
        .with_raw_output_schema(object(output))
        .with_annotations(annotations)
}

/// A schema, which is always of an object.
pub(crate) fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::new(JsonObject::new()),
    }
}
