//! Results in the shape that the host asked for: a tool that takes them, and what its call means for the turn.

use std::sync::Arc;

use bowline_protocol::{DecisionSource, Extra, PermissionDecision, PermissionVerdict, RawJson};
use bowline_tools::{Access, Tool, ToolCall, ToolFailure, ToolOutput, ToolSpec, Workspace};
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::{
    session::Shared,
    turn::{machine::Then, outcome::CallOutcome, pipeline::Proposed},
};

/// What the model calls to give its result.
pub(crate) const NAME: &str = "StructuredOutput";
const ACCEPTED: &str = "Structured output provided successfully";
const DESCRIPTION: &str = "Gives the final result of the task as data. Call this exactly once, when \
    the work is done, with arguments that fit the schema; nothing you write afterwards is read.";

/// The tool that takes a result.
struct StructuredOutput {
    spec: ToolSpec,
}

/// A tool that takes results of this shape.
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

/// The result in an input that is nothing but its wrapping: one field, which holds the result as an
/// object or as the text of one. Models do that often, and asking again costs a whole answer.
pub(crate) fn unwrapped(input: &Value) -> Option<Value> {
    let fields = input.as_object().filter(|fields| fields.len() == 1)?;
    match fields.values().next()? {
        Value::String(text) => serde_json::from_str(text).ok().filter(Value::is_object),
        only => Some(only.clone()).filter(Value::is_object),
    }
}

/// Notes in the outcome of a call of this tool that the turn has its result.
pub(crate) fn note(session: &Shared, proposed: &Proposed, outcome: &mut CallOutcome) {
    if proposed.call.name == NAME && session.live().json_schema.is_some() && !outcome.failed() {
        outcome.structured_output = Some(RawJson::from(proposed.input.clone()));
        outcome.then = Then::StructuredOutput;
    }
}

/// A call of this tool whose input did not fit.
pub(crate) fn note_rejection(outcome: &mut CallOutcome) {
    if outcome.call.name == NAME && outcome.failed() {
        outcome.then = Then::StructuredOutputRejected;
        // The tool may always be called; it is the result that does not fit.
        outcome.meta = Some(outcome.decided(PermissionDecision {
            decision: PermissionVerdict::Accept,
            source: DecisionSource::Config,
            reason_type: None,
            extra: Extra::new(),
        }));
    }
}
