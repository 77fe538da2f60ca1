//! The tools that clients are offered, with their schemas and annotations.

use bowline_engine::ToolSelection;
use bowline_tools::{Hints, ToolSpec};
use rmcp::model::{Tool, ToolAnnotations};

use crate::agent_tool::{self, object};

/// The tools that clients are offered.
#[derive(Debug)]
pub(crate) struct Offer {
    tools: Vec<Tool>,
}

impl Offer {
    pub(crate) fn new(specs: &[ToolSpec], selection: &ToolSelection, agent: bool) -> Self {
        let mut tools: Vec<_> = specs.iter().map(tool).collect();
        let chosen = match selection {
            ToolSelection::Default => true,
            ToolSelection::Named(names) => names.iter().any(|name| name == agent_tool::NAME),
        };
        if agent && chosen {
            tools.push(agent_tool::tool());
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
