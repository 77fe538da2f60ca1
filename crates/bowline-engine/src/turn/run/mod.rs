//! Runs one turn: performs what the [machine](super::machine) decides and tells it what happened.

mod stream;
mod thinking;

use std::{collections::VecDeque, time::Duration};

use bowline_model::ModelError;
use bowline_protocol::{
    AgentStatus, ApiRetryMessage, AssistantError, AssistantMessage, ContentBlock, Delta,
    MessageUuid, ModelFallbackMessage, StatusMessage, StopReason, StreamEvent,
    ThinkingTokensMessage, UserMessage,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::thinking::ThinkingMeter;
use super::{
    answer::{Answer, Step},
    call::Calls,
    machine::{Effect, Ending, Event, Limits, Nudge, Turn},
    outcome::CallOutcome,
    report::Report,
    texts,
};
use crate::{
    agent::{Agent, StopVerdict, api_error_frame},
    ledger::{Account, LineChanges},
    outlet::timestamp,
};

/// How long tools may take to notice that they were stopped.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// One turn under way.
pub(crate) struct TurnRun<'a> {
    agent: &'a mut Agent,
    cancel: CancellationToken,
    turn: Turn,
    answer: Option<Answer>,
    calls: Calls,
    report: Report,
    /// The prompts this turn answers, for the first frame that answers them.
    prompts: Vec<MessageUuid>,
    announced: bool,
    thinking: ThinkingMeter,
    /// What happened while an effect was performed.
    happened: VecDeque<Event>,
    /// The API's name of the last answer.
    last_answer: Option<String>,
    /// What a Stop hook wants the model to hear.
    feedback: String,
    stop_hook_active: bool,
}

/// What woke the loop.
enum Woken {
    Interrupted,
    Stepped(Step),
    Finished(CallOutcome),
}

impl<'a> TurnRun<'a> {
    /// A turn that answers `prompts`; the conversation already holds them.
    pub(crate) fn new(
        agent: &'a mut Agent,
        limits: Limits,
        prompts: Vec<MessageUuid>,
        cancel: CancellationToken,
    ) -> Self {
        let calls = Calls::new(agent, &cancel);
        Self {
            agent,
            cancel,
            turn: Turn::new(limits),
            answer: None,
            calls,
            report: Report::new(),
            prompts,
            announced: false,
            thinking: ThinkingMeter::default(),
            happened: VecDeque::from([Event::Prompted]),
            last_answer: None,
            feedback: String::new(),
            stop_hook_active: false,
        }
    }

    /// Runs the turn to its end.
    ///
    /// Cancel safety: to be polled to its end; `cancel` makes that soon.
    pub(crate) async fn run(mut self) -> Report {
        while !self.turn.has_ended() {
            let event = match self.happened.pop_front() {
                Some(event) => event,
                None => match self.wake().await {
                    Woken::Interrupted => Event::Interrupted,
                    Woken::Finished(outcome) => self.finished(outcome).await,
                    Woken::Stepped(step) => match self.stepped(step).await {
                        Some(event) => event,
                        None => continue,
                    },
                },
            };
            for effect in self.turn.step(event) {
                self.perform(effect).await;
            }
        }
        self.report
    }

    async fn wake(&mut self) -> Woken {
        let Self { cancel, calls, answer, .. } = self;
        tokio::select! {
            // An interrupt beats what it interrupts; words that are there beat results.
            biased;
            () = cancel.cancelled() => Woken::Interrupted,
            step = next_step(answer) => Woken::Stepped(step),
            Some(outcome) = calls.next() => Woken::Finished(outcome),
        }
    }

    async fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::CallModel => self.call_model().await,
            Effect::StopModel => self.stop_model().await,
            Effect::RunTool(id) => {
                self.calls.start(&id);
                // The call begins before the model's next words are looked at.
                tokio::task::yield_now().await;
            }
            Effect::StopTool(id) => self.calls.stop(&id),
            Effect::Nudge(nudge) => self.nudge(nudge).await,
            Effect::AskStopHooks => self.ask_stop_hooks().await,
            Effect::End(ending) => self.end(ending).await,
        }
    }
}

/// What the model says.
impl TurnRun<'_> {
    async fn call_model(&mut self) {
        self.deliver_results().await;
        if self.agent.session.over_budget() {
            self.happened.push_back(Event::BudgetExhausted);
            return;
        }
        if self.agent.compact_if_full(&self.cancel).await.is_err() {
            // A compaction that fails leaves the conversation as it was; the API has the last word.
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
                let policy = self.agent.session.retry_policy();
                self.answer = Some(Answer::new(target, fallbacks, policy));
            }
            Err(error) => {
                self.fail(error).await;
                self.happened.push_back(Event::Failed);
            }
        }
    }

    async fn stepped(&mut self, step: Step) -> Option<Event> {
        match step {
            Step::Event(event, complete) => self.heard(event, complete).await,
            Step::Retry { error, attempt, delay } => {
                self.close_stream().await;
                self.enter_usage();
                if attempt > 0 {
                    self.retry(&error, attempt, delay).await;
                }
                None
            }
            Step::Fallback { from, to } => {
                self.close_stream().await;
                self.enter_usage();
                let content = format!("{from} is overloaded; {to} takes over");
                self.send(ModelFallbackMessage {
                    trigger: "overloaded".to_owned(),
                    original_model: from,
                    fallback_model: to,
                    content,
                    ..ModelFallbackMessage::default()
                })
                .await;
                None
            }
            Step::Done => {
                self.enter_usage();
                let answer = self.answer.take()?;
                let message = answer.message();
                self.last_answer = Some(message.id.clone());
                self.report.last_usage = message.usage.clone();
                self.report.model = answer.model().to_owned();
                self.report.stop_reason = message.stop_reason.clone();
                if message.stop_reason == Some(StopReason::Refusal) {
                    self.report.refusals += 1;
                }
                let empty = message.content.is_empty();
                Some(Event::Answered { stop_reason: message.stop_reason.clone(), empty })
            }
            Step::Cut(error) => {
                tracing::debug!(%error, "the stream broke off behind a complete block");
                self.close_stream().await;
                self.enter_usage();
                self.answer = None;
                Some(Event::Cut)
            }
            Step::Failed(error) => {
                self.close_stream().await;
                self.enter_usage();
                self.answer = None;
                if error.is_context_overflow() && self.agent.compact_overflow(&self.cancel).await {
                    self.report.messages += 1;
                    self.call_model().await;
                    return None;
                }
                self.fail(error).await;
                Some(Event::Failed)
            }
        }
    }

    /// One event of the stream. The complete frame of a block goes before its stop event.
    async fn heard(&mut self, event: StreamEvent, complete: Option<ContentBlock>) -> Option<Event> {
        let began = self.report.began;
        self.report.first_event.get_or_insert_with(|| began.elapsed());
        self.measure_thinking(&event).await;
        let mut called = None;
        if let Some(block) = complete {
            self.report.first_content.get_or_insert_with(|| began.elapsed());
            called = self.block(block).await;
        }
        if self.streams() {
            self.forward(event).await;
        }
        called
    }

    /// A complete block: into the conversation, to the host, and, if it calls a tool, to work.
    async fn block(&mut self, block: ContentBlock) -> Option<Event> {
        let answer = self.answer.as_ref()?;
        let answer_id = answer.message().id.clone();
        let tokens = answer.tokens_so_far();
        let block = match block {
            ContentBlock::ToolUse(mut call) => {
                self.agent.session.redirect(&mut call.name);
                ContentBlock::ToolUse(self.calls.complete_input(call))
            }
            block => block,
        };
        self.agent.conversation.push_block(&answer_id, block.clone());
        if let ContentBlock::Text(text) = &block {
            self.report.last_words = text.text.clone();
            self.agent.display_hooks(&text.text, &self.cancel).await;
        }
        let frame = self.assistant_frame(block.clone());
        if let ContentBlock::ToolUse(call) = &block {
            self.report.used(&call.name);
            // Whoever waits for a subagent hears first what it is about to do.
            if self.agent.identity.is_waited_for() {
                self.agent.report_progress(call, &self.report, tokens).await;
            }
        }
        if self.shows(&block) {
            self.agent.say_assistant(frame).await;
        } else {
            self.agent.record_assistant(&frame).await;
        }
        match block {
            ContentBlock::ToolUse(call) => {
                self.agent.session.context.look_at_repository();
                if !self.agent.identity.is_waited_for() {
                    self.agent.report_progress(&call, &self.report, tokens).await;
                }
                let id = call.id.clone();
                self.calls.add(call);
                Some(Event::Called(id))
            }
            _ => None,
        }
    }

    fn assistant_frame(&mut self, block: ContentBlock) -> AssistantMessage {
        let mut frame = AssistantMessage::default();
        if let Some(answer) = &self.answer {
            frame.message = answer.message().clone();
            // While an answer streams, its stop reason and final usage are the result's to tell.
            if answer.is_streamed() {
                frame.message.stop_reason = None;
                frame.message.usage = answer.opening_usage();
            }
            frame.request_id = answer.request_id();
        }
        if let ContentBlock::Thinking(_) = &block {
            frame.thinking_duration_ms = self.thinking.end();
        }
        frame.tool_use_meta = self.calls.meta(&block);
        frame.message.content = vec![block];
        frame.message.extra.entry("context_management").or_insert(Value::Null);
        frame.timestamp = Some(timestamp());
        if self.agent.identity.is_main() && !std::mem::replace(&mut self.announced, true) {
            frame.user_message_uuid = self.prompts.last().cloned();
            frame.user_message_uuids = some(self.prompts.clone());
        }
        frame
    }

    /// A subagent's words are its own business unless the host wants them.
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
        let max_retries = self.answer.as_ref().map_or(0, Answer::max_retries);
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

    /// The model cannot be reached: a message in its place says why.
    async fn fail(&mut self, error: ModelError) {
        let frame = api_error_frame(&error);
        if let Some(text) = frame.message.content.first().and_then(ContentBlock::as_text) {
            self.report.last_words = text.to_owned();
        }
        if self.agent.identity.is_main() {
            self.agent.say_assistant(frame).await;
        }
        self.report.stop_reason = Some(StopReason::StopSequence);
        self.agent.failure_hooks(error.category(), &self.report.last_words).await;
        self.report.failure = Some(error);
    }

    /// Interrupted: what came so far is shown as it is.
    async fn stop_model(&mut self) {
        let Some(answer) = &self.answer else { return };
        let id = answer.message().id.clone();
        let partial: Vec<_> = answer.fold().partial().cloned().collect();
        for block in partial {
            let ContentBlock::Text(text) = &block else { continue };
            if text.text.is_empty() {
                continue;
            }
            self.agent.conversation.push_block(&id, block.clone());
            let mut frame = self.assistant_frame(block);
            frame.aborted = Some(true);
            self.agent.say_assistant(frame).await;
        }
        // The API bills what it has said and heard, whether or not anybody waited for the rest.
        self.enter_usage();
    }

    fn enter_usage(&mut self) {
        let Some(answer) = &mut self.answer else { return };
        let account = match self.agent.identity.is_main() {
            true => Account::Main,
            false => Account::Side,
        };
        let tokens = self.agent.session.enter_answer(account, answer);
        self.agent.tokens.fetch_add(tokens, std::sync::atomic::Ordering::Relaxed);
    }
}

/// What tools and the engine say.
impl TurnRun<'_> {
    async fn finished(&mut self, outcome: CallOutcome) -> Event {
        // A call that waited for this one begins before its result is shown.
        tokio::task::yield_now().await;
        let event = Event::Finished(outcome.id().clone(), outcome.then);
        self.show(outcome).await;
        event
    }

    /// A result: to the host at once, to the model with the others.
    async fn show(&mut self, mut outcome: CallOutcome) {
        self.report.messages += 1;
        if let Some(denial) = outcome.denial.take() {
            self.report.denials.push(denial);
        }
        if let Some(output) = outcome.structured_output.take() {
            self.report.structured_output = Some(output);
        }
        if let Some(deferred) = outcome.deferred.take() {
            self.report.deferred = Some(deferred);
            self.report.messages -= 1;
            return;
        }
        if let Some(result) = &outcome.structured {
            let changes = LineChanges::of(result);
            self.report.changes += changes;
            self.agent.session.ledger().enter_changes(changes);
        }
        for notice in outcome.notices.drain(..) {
            self.agent.session.outlet.emit(notice).await;
        }
        let frame = outcome.frame(&self.agent.identity);
        self.agent.say_user(frame).await;
        if !outcome.follow_up.is_empty() {
            let mut frame = UserMessage::prompt(outcome.follow_up.clone());
            frame.is_synthetic = Some(true);
            self.agent.say_user(frame).await;
        }
        self.calls.keep(outcome);
    }

    /// Results go to the model together, in the order of the calls; what was queued meanwhile follows.
    async fn deliver_results(&mut self) {
        let batch = self.calls.take_results();
        if batch.is_empty() {
            return;
        }
        let context = self.agent.batch_hooks(&batch, &self.cancel).await;
        let reminders = self.agent.reminders(&batch, &self.cancel).await;
        let mut blocks: Vec<_> = batch.iter().map(|outcome| outcome.block()).collect();
        for outcome in batch {
            blocks.extend(outcome.follow_up);
            blocks.extend(outcome.context.into_iter().map(ContentBlock::text));
        }
        blocks.extend(context.into_iter().map(ContentBlock::text));
        blocks.extend(reminders);
        blocks.extend(self.agent.take_queued(&mut self.prompts).await);
        self.agent.conversation.push_user(blocks);
    }

    async fn nudge(&mut self, nudge: Nudge) {
        let text = match nudge {
            Nudge::StopFeedback => {
                self.stop_hook_active = true;
                format!("{}\n{}", texts::nudge(nudge), self.feedback)
            }
            _ => texts::nudge(nudge).to_owned(),
        };
        let mut frame = UserMessage::prompt(vec![ContentBlock::text(text.clone())]);
        frame.is_synthetic = Some(true);
        if nudge == Nudge::Refusal {
            self.agent.tell_refusal().await;
            frame.refused_message_id = self.last_answer.clone();
        }
        self.report.messages += 1;
        self.agent.conversation.push_user(vec![ContentBlock::text(text)]);
        if self.agent.identity.is_main() {
            self.agent.say_user(frame).await;
        }
    }

    async fn ask_stop_hooks(&mut self) {
        // A hook may have a model look at all that was said.
        self.agent.note_context();
        let asked =
            self.agent.stop_hooks(&self.report.last_words, self.stop_hook_active, &self.cancel);
        let event = tokio::select! {
            verdict = asked => match verdict {
                StopVerdict::Allowed => Event::StopAllowed,
                StopVerdict::Prevented => Event::StopPrevented,
                StopVerdict::Blocked(feedback) => {
                    self.feedback = feedback;
                    Event::StopBlocked
                }
            },
            () = self.cancel.cancelled() => Event::Interrupted,
        };
        self.happened.push_back(event);
    }
}

/// How it ends.
impl TurnRun<'_> {
    async fn end(&mut self, ending: Ending) {
        self.report.ending = Some(ending);
        match ending {
            Ending::AbortedStreaming => {
                self.interrupted(texts::INTERRUPTED).await;
                self.abort_stream().await;
            }
            Ending::AbortedTools => {
                self.collect_stopped().await;
                self.interrupted(texts::INTERRUPTED_TOOLS).await;
            }
            _ => self.collect_stopped().await,
        }
        self.answer = None;
    }

    /// Every call gets its result, also those that were stopped.
    async fn collect_stopped(&mut self) {
        for outcome in self.calls.drain(STOP_GRACE).await {
            self.show(outcome).await;
        }
        let batch = self.calls.take_results();
        let blocks = batch.iter().map(|outcome| outcome.block()).collect();
        self.agent.conversation.push_user(blocks);
    }

    async fn interrupted(&mut self, text: &str) {
        self.report.messages += 1;
        let blocks = vec![ContentBlock::text(text)];
        self.agent.conversation.push_user(blocks.clone());
        if self.agent.identity.is_main() {
            self.agent.say_user(UserMessage::prompt(blocks)).await;
        }
    }
}

async fn next_step(answer: &mut Option<Answer>) -> Step {
    match answer {
        Some(answer) => answer.next().await,
        None => std::future::pending().await,
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
