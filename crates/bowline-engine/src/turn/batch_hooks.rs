//! Hooks of a batch of tool calls.

use bowline_protocol::{
    EventInput, FinishedToolCall, HookEvent, PostToolBatchInput, RawJson, ToolUseId,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::outcome::CallOutcome;
use crate::agent::Agent;

/// The verdict of the hooks on a batch of calls.
#[derive(Debug, Default)]
pub(crate) struct BatchVerdict {
    /// Texts for the model.
    pub(crate) context: Vec<String>,
    /// Whether the turn ends here.
    pub(crate) stops: bool,
}

impl Agent {
    /// Runs the hooks of a batch of calls that have ended.
    pub(crate) async fn batch_hooks(
        &self,
        batch: &[CallOutcome],
        cancel: &CancellationToken,
    ) -> BatchVerdict {
        if !self.session.hooks.has(HookEvent::PostToolBatch) {
            return BatchVerdict::default();
        }
        let event = EventInput::PostToolBatch(PostToolBatchInput {
            tool_calls: batch.iter().map(batch_entry).collect(),
            ..PostToolBatchInput::default()
        });
        let about = ToolUseId(format!("hook-{}", Uuid::new_v4()));
        let run = self.session.hooks.run_about(&self.identity, event, Some(&about), cancel);
        let report = run.await;
        let stops = report.stop.is_some() || !report.blocks.is_empty();
        BatchVerdict { context: report.model_texts().collect(), stops }
    }
}

/// One call of a batch: input and result.
fn batch_entry(outcome: &CallOutcome) -> FinishedToolCall {
    FinishedToolCall {
        tool_name: outcome.call.name.clone(),
        tool_input: outcome.call.input.clone(),
        tool_use_id: outcome.call.id.clone(),
        tool_response: Some(RawJson::from(Value::String(outcome.content.to_text()))),
        ..FinishedToolCall::default()
    }
}
