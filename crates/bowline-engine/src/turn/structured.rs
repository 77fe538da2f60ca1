//! Effects of structured output calls on the turn: rejections, whose retry limit is in `machine.rs`.

use bowline_protocol::{DecisionSource, Extra, PermissionDecision, PermissionVerdict, RawJson};

use super::{machine::AfterCall, outcome::CallOutcome, pipeline::Proposed};
use crate::{state::OutputFormat, structured_output};

/// Notes in the outcome of a call of this tool that the turn has its result.
pub(crate) fn note(output: &OutputFormat, proposed: &Proposed, outcome: &mut CallOutcome) {
    if proposed.call.name == structured_output::NAME && output.has_schema() && !outcome.failed() {
        outcome.structured_output = Some(RawJson::from(proposed.input.clone()));
        outcome.then = AfterCall::StructuredOutput;
    }
}

/// Notes that the input of a call of this tool did not fit its schema.
pub(crate) fn note_rejection(outcome: &mut CallOutcome) {
    if outcome.call.name == structured_output::NAME && outcome.failed() {
        outcome.then = AfterCall::StructuredOutputRejected;
        // The call itself was permitted; only its input is invalid.
        outcome.meta = Some(outcome.decided(PermissionDecision {
            decision: PermissionVerdict::Accept,
            source: DecisionSource::Config,
            reason_type: None,
            extra: Extra::new(),
        }));
    }
}
