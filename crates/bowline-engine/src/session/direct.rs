//! Direct tool calls without a model, for doors whose clients bring their own.
//!
//! A call passes the same checks as one of a model: schema, hooks, rules, mode, permission requests.

use std::{panic::AssertUnwindSafe, sync::Arc};

use bowline_protocol::{
    Content, ContentBlock, PermissionDenial, RawJson, SlashCommand, ToolUseBlock, ToolUseId,
};
use bowline_tools::{ToolFailure, ToolSpec};
use futures_util::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Session;
use crate::{
    command::{self, ExpandedCommand},
    config::PermissionPrompts,
    identity::Identity,
    tool,
    turn::{
        call_slot::CallSlot,
        outcome::CallOutcome,
        pipeline::{self, CallContext},
        schedule::Concurrency,
    },
};

/// A call that a client makes.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectCall {
    /// The id of the call, used in permission requests.
    pub id: ToolUseId,
    /// The tool.
    pub tool: String,
    /// The arguments, an object.
    pub input: RawJson,
    /// The destination of permission requests.
    pub prompts: PermissionPrompts,
}

/// The result of a direct call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DirectResult {
    /// The content for a model.
    pub content: Vec<ContentBlock>,
    /// The structured result, for programs.
    pub structured: Option<Value>,
    /// Whether it failed, or never ran.
    pub is_error: bool,
    /// Set if it was not allowed.
    pub denial: Option<PermissionDenial>,
}

impl Session {
    /// The tools that can be called without a conversation.
    pub fn tools(&self) -> Vec<ToolSpec> {
        let tools = self.context.main_tools.get();
        let specs = tools.own().iter().map(|tool| tool.spec());
        specs.filter(|spec| !tool::needs_conversation(&spec.name)).cloned().collect()
    }

    /// Runs one call. Calls that are not concurrency-safe wait for each other, but not for a pending
    /// permission request of another. Every path returns a result.
    ///
    /// # Cancel safety
    ///
    /// Must be polled to its end, which is soon once `cancel` fires. Dropping the future cancels
    /// requests and kills the processes of the call, but no hooks run at its end.
    pub async fn call_tool(&self, call: DirectCall, cancel: CancellationToken) -> DirectResult {
        let DirectCall { id, tool, input, prompts } = call;
        let call = Arc::new(ToolUseBlock { id, name: tool, input, ..ToolUseBlock::default() });
        if tool::needs_conversation(&call.name) {
            let failure = ToolFailure::unknown_tool(&call.name, Some("It needs a conversation."));
            return DirectResult::from(CallOutcome::failure(call, failure));
        }
        let input = call.input.to_value();
        let concurrency = Concurrency::of(&self.context.main_tools.get(), &call.name, &input);
        let Some(slot) = self.acquire_slot(concurrency, &cancel).await else {
            return DirectResult::from(CallOutcome::interrupted(call));
        };
        let context = Arc::new(self.direct_context(prompts, slot));
        let run = pipeline::run(context, call.clone(), input, None, cancel);
        let mut outcome = AssertUnwindSafe(run).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(tool = %call.name, "a tool panicked");
            let message = format!("{} failed: it crashed", call.name);
            Box::new(CallOutcome::failure(call, ToolFailure::running(message)))
        });
        for notice in outcome.notices.drain(..) {
            self.context.sink.emit(notice).await;
        }
        DirectResult::from(*outcome)
    }

    /// The commands that people wrote, and the skills that people may call, for doors whose clients
    /// bring their own model. They are read again.
    pub fn commands(&self) -> Vec<SlashCommand> {
        self.context.commands.reload();
        self.context.commands.list_custom()
    }

    /// The prompt that such a command stands for; `None` if there is no such command. Programs that
    /// its text calls run as any call does, without permission requests.
    ///
    /// # Cancel safety
    ///
    /// As for [`call_tool`](Self::call_tool).
    pub async fn expand_command(
        &self,
        name: &str,
        args: &str,
        cancel: CancellationToken,
    ) -> Option<Result<ExpandedCommand, String>> {
        // The tools that the command allows must not apply to calls of others.
        let Some(slot) = self.acquire_slot(Concurrency::Exclusive, &cancel).await else {
            return Some(Err("cancelled".to_owned()));
        };
        let context = Arc::new(self.direct_context(PermissionPrompts::Nobody, slot));
        command::expand_alone(&context, name, args, &cancel).await
    }

    /// Waits for a call slot; `None` if `cancel` fires before.
    async fn acquire_slot(
        &self,
        concurrency: Concurrency,
        cancel: &CancellationToken,
    ) -> Option<CallSlot> {
        let slot = async {
            // The start hooks run before any other hook.
            self.context.turn.started.cancelled().await;
            CallSlot::acquire(&self.direct_calls, concurrency).await
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            slot = slot => Some(slot),
        }
    }

    fn direct_context(&self, prompts: PermissionPrompts, slot: CallSlot) -> CallContext {
        CallContext {
            session: Arc::clone(&self.context),
            identity: Identity::Main,
            tools: self.context.main_tools.get(),
            workspace: Arc::clone(&self.context.workspace),
            prompts,
            slot: Some(slot),
        }
    }
}

impl From<CallOutcome> for DirectResult {
    fn from(outcome: CallOutcome) -> Self {
        let is_error = outcome.failed() || outcome.deferred.is_some();
        let mut content = outcome.content.into_blocks();
        if outcome.deferred.is_some() {
            content = Content::from("A hook put this call off; it did not run.").into_blocks();
        }
        content.extend(outcome.follow_up);
        content.extend(outcome.context.into_iter().map(ContentBlock::text));
        Self { content, structured: outcome.structured, is_error, denial: outcome.denial }
    }
}
