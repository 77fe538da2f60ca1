//! The engine's view of an MCP tool: its full name, description, schema and hints.

use std::{fmt, sync::Arc};

use bowline_protocol::{RawJson, ToolListing};
use bowline_tools::{Tool, ToolSpec};
use serde_json::{Value, json};

use crate::{name::tool_name, truncate::truncated};

/// The key of `_meta` under which a tool sets the size limit of its results.
const MAX_RESULT_CHARS: &str = "anthropic/maxResultSizeChars";

/// A tool of a server.
#[derive(Clone)]
pub struct ServerTool {
    /// The tool as its server lists it.
    pub listing: ToolListing,
    /// The tool as the engine calls it, under its full name.
    pub tool: Arc<dyn Tool>,
}

impl fmt::Debug for ServerTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerTool").field(&self.tool.spec().name).finish()
    }
}

/// A tool as the engine knows it. Its input is not checked here, because its server has the last
/// word. `max_result_chars` applies unless the tool sets its own limit.
pub(crate) fn tool_spec(server: &str, listing: &ToolListing, max_result_chars: usize) -> ToolSpec {
    let mut schema = listing.input_schema.clone();
    schema.entry("type").or_insert(json!("object"));
    let mut spec = ToolSpec::new(
        tool_name(server, &listing.name),
        listing.description.as_deref().map(truncated).unwrap_or_default(),
        RawJson::from(Value::Object(schema)),
    )
    .unchecked();
    let hints = &listing.annotations;
    spec.hints.read_only = hints.read_only_hint.unwrap_or(false);
    spec.hints.destructive = hints.destructive_hint.unwrap_or(false);
    spec.hints.idempotent = hints.idempotent_hint.unwrap_or(false);
    spec.hints.open_world = hints.open_world_hint.unwrap_or(false);
    let own_limit = listing.meta.get(MAX_RESULT_CHARS).and_then(Value::as_u64);
    let own_limit = own_limit.and_then(|chars| usize::try_from(chars).ok());
    spec.max_result_chars = own_limit.unwrap_or(max_result_chars);
    spec
}
