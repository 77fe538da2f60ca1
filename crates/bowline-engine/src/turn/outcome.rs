//! Outcome of one tool call.

use std::sync::Arc;

use bowline_protocol::{
    Content, ContentBlock, DecisionReasonType, DecisionSource, DeferredToolUse,
    InformationalMessage, Maybe, Message, NonExecutionKind, PermissionDecision, PermissionDenial,
    PermissionVerdict, RawJson, ToolResultBlock, ToolResultMeta, ToolUseBlock, ToolUseId,
    UserMessage,
};
use bowline_tools::{ToolFailure, ToolOutput};
use serde_json::Value;

use super::machine::AfterCall;
use crate::{clock::timestamp, identity::Identity};

/// The outcome of one tool call.
#[derive(Debug)]
pub(crate) struct CallOutcome {
    pub(crate) call: Arc<ToolUseBlock>,
    /// The content for the model.
    pub(crate) content: Content,
    /// The `is_error` of the result block.
    pub(crate) is_error: Option<bool>,
    /// The structured result, for hosts and hooks.
    pub(crate) structured: Option<Value>,
    /// The permission decision, and why the call did not run.
    pub(crate) meta: Option<ToolResultMeta>,
    /// Set if the call was not allowed.
    pub(crate) denial: Option<PermissionDenial>,
    /// Messages sent before the result.
    pub(crate) notices: Vec<Message>,
    /// Messages of hooks to the user, sent after the result.
    pub(crate) remarks: Vec<InformationalMessage>,
    /// Blocks for the model that follow the result.
    pub(crate) follow_up: Vec<ContentBlock>,
    /// Texts of hooks for the model.
    pub(crate) context: Vec<String>,
    /// The structured output that the host requested.
    pub(crate) structured_output: Option<RawJson>,
    /// Set if a hook deferred the call.
    pub(crate) deferred: Option<DeferredToolUse>,
    /// How the turn goes on after this call.
    pub(crate) then: AfterCall,
}

/// The calls that did not fail.
pub(crate) fn successful_calls(batch: &[CallOutcome]) -> impl Iterator<Item = &ToolUseBlock> {
    batch.iter().filter(|outcome| !outcome.failed()).map(|outcome| &*outcome.call)
}

impl CallOutcome {
    /// The call succeeded.
    pub(crate) fn success(call: Arc<ToolUseBlock>, output: ToolOutput) -> Self {
        Self {
            content: output.content,
            is_error: output.is_error,
            structured: output.structured,
            follow_up: output.follow_up,
            ..Self::blank(call)
        }
    }

    /// The call failed, or never ran.
    pub(crate) fn failure(call: Arc<ToolUseBlock>, failure: ToolFailure) -> Self {
        Self {
            content: Content::Text(failure.content),
            is_error: Some(true),
            structured: Some(failure.structured),
            ..Self::blank(call)
        }
    }

    /// The call was not allowed: `message` gives the model the reason.
    pub(crate) fn denied(call: Arc<ToolUseBlock>, message: &str) -> Self {
        let denial = PermissionDenial {
            tool_name: call.name.clone(),
            tool_use_id: call.id.clone(),
            tool_input: call.input.clone(),
            ..PermissionDenial::default()
        };
        Self {
            content: Content::from(message),
            is_error: Some(true),
            structured: Some(Value::String(format!("Error: {message}"))),
            denial: Some(denial),
            ..Self::blank(call)
        }
    }

    /// The call was stopped, before it ran or while it did.
    pub(crate) fn interrupted(call: Arc<ToolUseBlock>) -> Self {
        let id = call.id.clone();
        let meta = ToolResultMeta {
            id,
            non_execution_kind: Some(NonExecutionKind::UserRejected),
            ..ToolResultMeta::default()
        };
        Self { meta: Some(meta), ..Self::failure(call, ToolFailure::interrupted()) }
    }

    /// A hook deferred the call; there is no result.
    pub(crate) fn deferred(call: Arc<ToolUseBlock>) -> Self {
        let deferred = DeferredToolUse {
            id: call.id.clone(),
            name: call.name.clone(),
            input: call.input.clone(),
            ..DeferredToolUse::default()
        };
        Self { deferred: Some(deferred), then: AfterCall::Deferred, ..Self::blank(call) }
    }

    fn blank(call: Arc<ToolUseBlock>) -> Self {
        Self {
            call,
            content: Content::default(),
            is_error: None,
            structured: None,
            meta: None,
            denial: None,
            notices: Vec::new(),
            remarks: Vec::new(),
            follow_up: Vec::new(),
            context: Vec::new(),
            structured_output: None,
            deferred: None,
            then: AfterCall::Continue,
        }
    }

    pub(crate) fn id(&self) -> &ToolUseId {
        &self.call.id
    }

    /// Whether the tool itself failed or the call never ran.
    pub(crate) fn failed(&self) -> bool {
        self.is_error == Some(true)
    }

    /// Records the decision that rejected the call.
    pub(crate) fn rejected(
        &mut self,
        kind: NonExecutionKind,
        source: DecisionSource,
        reason_type: Option<DecisionReasonType>,
    ) {
        let decision = PermissionVerdict::Reject;
        let decision =
            PermissionDecision { decision, source, reason_type, extra: Default::default() };
        let mut meta = self.decided(decision);
        meta.non_execution_kind = Some(kind);
        self.meta = Some(meta);
    }

    /// Metadata of the result for a decision on this call.
    pub(crate) fn decided(&self, decision: PermissionDecision) -> ToolResultMeta {
        ToolResultMeta {
            id: self.call.id.clone(),
            permission_decision: Some(decision),
            ..ToolResultMeta::default()
        }
    }

    /// The result as the model sees it.
    pub(crate) fn block(&self) -> ContentBlock {
        ContentBlock::ToolResult(ToolResultBlock {
            tool_use_id: self.call.id.clone(),
            content: Some(self.content.clone()),
            is_error: self.is_error,
            ..ToolResultBlock::default()
        })
    }

    /// [`block`](Self::block) without a copy, for a caller that needs nothing else.
    pub(crate) fn into_block(self) -> ContentBlock {
        ContentBlock::ToolResult(ToolResultBlock {
            tool_use_id: self.call.id.clone(),
            content: Some(self.content),
            is_error: self.is_error,
            ..ToolResultBlock::default()
        })
    }

    /// The result as the host sees it. Structured results of a subagent's tools are left out unless they
    /// failed: hosts show only failures.
    pub(crate) fn frame(&self, identity: &Identity) -> Box<UserMessage> {
        let mut frame = Box::new(UserMessage::prompt(vec![self.block()]));
        frame.timestamp = Some(timestamp());
        if identity.is_main() || self.failed() {
            let structured = self.structured.as_ref().map(RawJson::from_value);
            let structured = structured.and_then(Result::ok);
            frame.tool_use_result = structured.map_or(Maybe::Absent, Maybe::Value);
        }
        frame.tool_result_meta = self.meta.clone().map(|meta| vec![meta]);
        frame
    }
}
