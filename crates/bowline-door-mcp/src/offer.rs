//! What clients are offered: the tools with their schemas, and what calls of them do to the world.

use std::sync::Arc;

use bowline_engine::ToolSelection;
use bowline_tools::{Hints, ToolSpec};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use crate::agent;

/// What clients are offered.
#[derive(Debug)]
pub(crate) struct Offer {
    tools: Vec<Tool>,
}

impl Offer {
    pub(crate) fn new(specs: &[ToolSpec], selection: &ToolSelection, agent: bool) -> Self {
        let mut tools: Vec<_> = specs.iter().map(tool).collect();
        let chosen = match selection {
            ToolSelection::Default => true,
            ToolSelection::Named(names) => names.iter().any(|name| name == agent::NAME),
        };
        if agent && chosen {
            tools.push(agent::tool());
        }
        Self { tools }
    }

    pub(crate) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

fn tool(spec: &ToolSpec) -> Tool {
    let schema = object(spec.input_schema.to_value());
    Tool::new(spec.name.clone(), spec.description.clone(), schema)
        .with_annotations(annotations(spec.hints))
}

fn annotations(hints: Hints) -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent || hints.read_only)
        .open_world(hints.open_world)
}

/// A schema, which is always of an object.
pub(crate) fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::new(JsonObject::new()),
    }
}
