//! Model responses: block by block to the conversation, to the host, and to tool calls.

use std::time::Duration;

use bowline_model::{ModelError, model_family};
use bowline_protocol::{
    AgentStatus, ApiRetryMessage, AssistantError, AssistantMessage, ContentBlock, Delta,
    ModelFallbackMessage, StatusMessage, StopReason, StreamEvent, ThinkingTokensMessage, ToolUseId,
};
use serde_json::Value;
use uuid::Uuid;

use super::{
    super::machine::Event, TurnRun, some, terminal_failure::ModelRefusal, thinking::ThinkingMeter,
};
use crate::{
    agent::Progress,
    clock::{millis, timestamp},
    response::{ModelResponse, Step},
    synthetic::{api_error_frame, api_error_name},
    usage::{self, Account},
};

impl TurnRun<'_> {
    pub(super) async fn call_model(&mut self) {
        if self.happened.contains(&Event::BatchStopped) {
            return;
        }
        if !self.deliver_results().await {
            self.happened.push_back(Event::BatchStopped);
            return;
        }
        if self.agent.session.usage.is_over_budget() {
            self.happened.push_back(Event::BudgetExhausted);
            return;
        }
        if self.agent.compact_if_full(&self.cancel).await.is_err() {
            // A failed compaction leaves the conversation unchanged; the API may still accept it.
            tracing::warn!("the conversation could not be compacted");
        }
        self.agent.forget_foreign_thinking();
        match self.agent.target() {
            Ok((target, fallbacks)) => {
                let began = self.report.began;
                self.report.first_request.get_or_insert_with(|| began.elapsed());
                if self.streams() {
                    let status = Some(AgentStatus::Requesting);
                    self.send(StatusMessage { status, ..StatusMessage::default() }).await;
                }
                let policy = self.agent.session.config.retry.clone();
                self.response = Some(ModelResponse::new(target, fallbacks, policy));
            }
            Err(error) => {
                self.fail(error).await;
                self.happened.push_back(Event::Failed);
            }
        }
    }

    pub(super) async fn stepped(&mut self, step: Step) -> Option<Event> {
        match step {
            Step::Event(event, complete) => self.received(event, complete).await,
            Step::Retry { error, attempt, delay } => {
                self.close_stream().await;
                self.end_response().await;
                self.thinking = ThinkingMeter::default();
                if attempt > 0 {
                    self.retry(&error, attempt, delay).await;
                }
                None
            }
            Step::Fallback { error, from, to } => {
                self.close_stream().await;
                self.end_response().await;
                self.fell_back(&error, from, to).await;
                None
            }
            Step::Done => {
                self.end_response().await;
                self.response_ended()
            }
            Step::Cut(error) => {
                tracing::debug!(%error, "the stream broke off after a complete block");
                self.close_stream().await;
                self.end_response().await;
                self.response = None;
                self.cut = Some(error);
                Some(Event::Cut)
            }
            Step::Failed(error) => {
                self.close_stream().await;
                self.end_response().await;
                self.response = None;
                if error.is_too_large() && self.agent.compact_overflow(&self.cancel).await {
                    self.report.messages += 1;
                    self.call_model().await;
                    return None;
                }
                self.fail(error).await;
                Some(Event::Failed)
            }
        }
    }

    /// Reports that a fallback model takes over.
    async fn fell_back(&mut self, error: &ModelError, from: String, to: String) {
        // The first model could not verify the other's thinking signatures in the next request.
        if model_family(&from) != model_family(&to) && self.agent.identity.is_main() {
            self.agent.session.pending.thinking_is_foreign();
        }
        let trigger = error.category();
        let content = match trigger {
            "overloaded" => format!("{from} is overloaded; {to} takes over"),
            _ => format!("{from} does not respond ({error}); {to} takes over"),
        };
        self.send(ModelFallbackMessage {
            trigger: trigger.to_owned(),
            original_model: from,
            fallback_model: to,
            content,
            ..ModelFallbackMessage::default()
        })
        .await;
    }

    /// Handles a complete response.
    fn response_ended(&mut self) -> Option<Event> {
        let response = self.response.take()?;
        self.cut = None;
        let message = response.message();
        self.last_message_id = Some(message.id.clone());
        self.report.last_usage = message.usage.clone();
        self.report.model = response.model().to_owned();
        self.report.stop_reason = message.stop_reason.clone();
        if message.stop_reason == Some(StopReason::Refusal) {
            self.agent.session.usage.ledger().enter_refusal();
            let details = message.extra.get("stop_details");
            self.refusal = Some(ModelRefusal::new(response.request_id(), details));
        }
        if self.agent.session.usage.is_over_budget() {
            return Some(Event::BudgetExhausted);
        }
        // Thinking alone is an empty response.
        let is_thinking = |block: &ContentBlock| {
            matches!(block, ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_))
        };
        let empty = message.content.iter().all(is_thinking);
        Some(Event::ResponseEnded { stop_reason: message.stop_reason.clone(), empty })
    }

    /// Handles one stream event. The complete frame of a block is sent before its stop event.
    async fn received(&mut self, event: StreamEvent, complete: Option<usize>) -> Option<Event> {
        let began = self.report.began;
        self.report.first_event.get_or_insert_with(|| began.elapsed());
        self.measure_thinking(&event).await;
        let mut called = None;
        let block = complete.and_then(|index| self.response.as_ref()?.message().content.get(index));
        if let Some(block) = block.cloned() {
            self.report.first_content.get_or_insert_with(|| began.elapsed());
            called = self.block(block).await;
        }
        if self.streams() && self.response.as_ref().is_some_and(ModelResponse::is_streamed) {
            self.forward(event).await;
        }
        called
    }

    /// Handles a complete block: adds it to the conversation, sends it, and reports a tool call.
    async fn block(&mut self, block: ContentBlock) -> Option<Event> {
        let response = self.response.as_ref()?;
        let message_id = response.message().id.clone();
        let tokens = self.agent.identity.subagent().map_or(0, |_| response.tokens_so_far());
        let (block, input) = match block {
            ContentBlock::ToolUse(mut call) => {
                self.agent.session.host.redirect(&mut call.name);
                // The API pairs results with calls by id, so a duplicate id gets a new one.
                if self.calls.contains(&call.id) {
                    call.id = ToolUseId(format!("toolu_{}", Uuid::new_v4().simple()));
                }
                let input = self.calls.complete_input(&mut call);
                (ContentBlock::ToolUse(call), input)
            }
            block => (block, Value::Null),
        };
        self.agent.conversation.push_block(&message_id, block.clone());
        if let ContentBlock::Text(text) = &block {
            self.report.last_text = text.text.clone();
            self.agent.display_hooks(&text.text, &self.cancel).await;
        }
        let frame = self.assistant_frame(block.clone());
        if let ContentBlock::ToolUse(call) = &block {
            self.report.used(&call.name, self.agent.tools.find(&call.name).is_ok());
            // A foreground subagent reports its progress before the call, a background one after it.
            if self.agent.identity.is_waited_for() {
                self.agent.report_progress(call, self.progress(tokens)).await;
            }
        }
        if self.shows(&block) {
            self.agent.emit_assistant(frame).await;
        } else {
            self.agent.record_assistant(&frame).await;
        }
        match block {
            ContentBlock::ToolUse(call) => {
                self.agent.session.model_context.look_at_repository();
                if !self.agent.identity.is_waited_for() {
                    self.agent.report_progress(&call, self.progress(tokens)).await;
                }
                let id = call.id.clone();
                self.calls.add(call, input);
                Some(Event::Called(id))
            }
            _ => None,
        }
    }

    fn progress(&self, total_tokens: u64) -> Progress {
        let (tool_uses, elapsed) = (self.report.tool_uses, self.report.began.elapsed());
        Progress { total_tokens, tool_uses, elapsed }
    }

    fn assistant_frame(&mut self, block: ContentBlock) -> Box<AssistantMessage> {
        let mut frame = Box::<AssistantMessage>::default();
        if let Some(response) = &self.response {
            frame.message = response.head();
            // The stop reason and final usage of a streamed response are not known yet; the result has them.
            match response.is_streamed() {
                true => {
                    frame.message.stop_reason = None;
                    frame.message.usage = response.opening_usage();
                }
                false => frame.message.usage = usage::with_counts(response.opening_usage()),
            }
            frame.request_id = response.request_id();
        }
        if let ContentBlock::Thinking(_) = &block {
            frame.thinking_duration_ms = self.thinking.end();
        }
        frame.tool_use_meta = self.calls.meta(&block);
        frame.message.content = vec![block];
        frame.message.extra.entry("context_management").or_insert(Value::Null);
        frame.timestamp = Some(timestamp());
        // Prompts without a uuid cannot be named.
        let named = self.agent.identity.is_main() && !self.prompts.is_empty();
        if named && !std::mem::replace(&mut self.announced, true) {
            frame.user_message_uuid = self.prompts.last().cloned();
            frame.user_message_uuids = some(self.prompts.clone());
        }
        frame
    }

    /// Whether the block is sent: a subagent's text only if the host wants it.
    fn shows(&self, block: &ContentBlock) -> bool {
        let Some(subagent) = self.agent.identity.subagent() else { return true };
        subagent.shows_text || matches!(block, ContentBlock::ToolUse(_))
    }

    async fn measure_thinking(&mut self, event: &StreamEvent) {
        let StreamEvent::ContentBlockDelta(delta) = event else { return };
        let Delta::ThinkingDelta(thinking) = &delta.delta else { return };
        let (estimated_tokens, estimated_tokens_delta) = self.thinking.add(&thinking.thinking);
        if self.agent.identity.is_main() && estimated_tokens_delta > 0 {
            self.send(ThinkingTokensMessage {
                estimated_tokens,
                estimated_tokens_delta,
                ..ThinkingTokensMessage::default()
            })
            .await;
        }
    }

    async fn retry(&mut self, error: &ModelError, attempt: u32, delay: Duration) {
        if !self.agent.identity.is_main() {
            return;
        }
        let max_retries = self.response.as_ref().map_or(0, ModelResponse::max_retries);
        self.send(ApiRetryMessage {
            attempt: attempt.into(),
            max_retries: max_retries.into(),
            retry_delay_ms: millis(delay),
            error_status: error.status,
            error: AssistantError::from(error.category()),
            ..ApiRetryMessage::default()
        })
        .await;
    }

    /// Reports a failed request with a synthetic assistant message.
    pub(super) async fn fail(&mut self, error: ModelError) {
        self.cut = None;
        self.report.api_error = api_error_name(&error);
        self.emit_failure(Box::new(api_error_frame(&error)), error.category()).await;
        self.report.failure = Some(error);
    }

    /// Emits a synthetic assistant message that ends the turn, and runs the `StopFailure` hooks.
    pub(super) async fn emit_failure(&mut self, frame: Box<AssistantMessage>, category: &str) {
        if let Some(text) = frame.message.content.first().and_then(ContentBlock::as_text) {
            self.report.last_text = text.to_owned();
        }
        self.report.stop_reason = frame.message.stop_reason.clone();
        if self.agent.identity.subagent().is_none_or(|subagent| subagent.shows_text) {
            self.agent.emit_assistant(frame).await;
        }
        self.agent.failure_hooks(category, &self.report.last_text).await;
    }

    /// Cancels the response; text that has arrived is sent as it is.
    pub(super) async fn stop_model(&mut self) {
        let Some(response) = &self.response else { return };
        let id = response.message().id.clone();
        let partial: Vec<_> = response.fold().partial().cloned().collect();
        for block in partial {
            let ContentBlock::Text(text) = &block else { continue };
            if text.text.is_empty() {
                continue;
            }
            self.agent.conversation.push_block(&id, block.clone());
            let mut frame = self.assistant_frame(block);
            frame.aborted = Some(true);
            self.agent.emit_assistant(frame).await;
            self.shown_partly += 1;
        }
        // The API bills all tokens, whether or not the rest was awaited.
        self.end_response().await;
    }

    /// Ends a response, or an attempt at it: records its usage in the ledger and in its transcript lines.
    async fn end_response(&mut self) {
        let Some(response) = &mut self.response else { return };
        let account = match self.agent.identity.is_main() {
            true => Account::Main,
            false => Account::Side,
        };
        let (took, used) = (response.take_api_time(), response.take_usage());
        let tokens = self.agent.session.usage.record(account, took, used);
        self.agent.tokens.fetch_add(tokens, std::sync::atomic::Ordering::Relaxed);
        let notice = self.agent.journal().end_response(response.message());
        self.agent.session.sink.emit_notice(notice).await;
    }
}
