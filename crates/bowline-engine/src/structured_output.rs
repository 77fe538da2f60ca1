//! Structured output: the tool by which the model returns results in the host's schema.

use std::sync::Arc;

use bowline_protocol::RawJson;
use bowline_tools::{Access, Tool, ToolCall, ToolFailure, ToolOutput, ToolSpec, Workspace};
use futures_util::future::BoxFuture;
use serde_json::Value;

/// The name of the tool.
pub(crate) const NAME: &str = "StructuredOutput";
const ACCEPTED: &str = "Structured output provided successfully";
const DESCRIPTION: &str = "Gives the final result of the task as data. Call this exactly once, when \
    the work is done, with arguments that fit the schema; nothing you write afterwards is read.";

/// The tool that receives a result.
struct StructuredOutput {
    spec: ToolSpec,
}

/// The tool for results of this schema.
pub(crate) fn tool(schema: &Value) -> Arc<dyn Tool> {
    let spec = ToolSpec::new(NAME, DESCRIPTION, RawJson::from(schema.clone())).read_only();
    Arc::new(StructuredOutput { spec })
}

impl Tool for StructuredOutput {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Nothing
    }

    fn run(&self, _: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        // The schema has been checked before any tool runs.
        let output = ToolOutput::text(ACCEPTED).structured(Value::String(ACCEPTED.to_owned()));
        Box::pin(std::future::ready(Ok(output)))
    }
}

/// The result in an input that only wraps it: one field, which holds the result as an
/// object or as the text of one. Models do that often, and a retry costs a whole response.
pub(crate) fn unwrapped(input: &Value) -> Option<Value> {
    let fields = input.as_object().filter(|fields| fields.len() == 1)?;
    match fields.values().next()? {
        Value::String(text) => serde_json::from_str(text).ok().filter(Value::is_object),
        only => Some(only.clone()).filter(Value::is_object),
    }
}
