//! Run of one turn: performs the effects of the [machine](super::machine) and feeds it events.

mod model;
mod results;
mod stream;
mod terminal_failure;
mod thinking;

use std::{collections::VecDeque, time::Duration};

use bowline_model::ModelError;
use bowline_protocol::{ContentBlock, MessageUuid, UserMessage};
use tokio_util::sync::CancellationToken;

use self::{terminal_failure::ModelRefusal, thinking::ThinkingMeter};
use super::{
    call::Calls,
    machine::{Effect, Ending, Event, Limits, Turn},
    outcome::CallOutcome,
    report::Report,
    texts,
};
use crate::{
    agent::Agent,
    response::{ModelResponse, Step},
};

/// How long tools may take to notice that they were stopped.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// One turn under way.
pub(crate) struct TurnRun<'a> {
    agent: &'a mut Agent,
    cancel: CancellationToken,
    turn: Turn,
    response: Option<ModelResponse>,
    calls: Calls,
    report: Box<Report>,
    /// The prompts of this turn, named in the first frame that responds to them.
    prompts: Vec<MessageUuid>,
    announced: bool,
    thinking: ThinkingMeter,
    /// Events that occurred while an effect was performed.
    happened: VecDeque<Event>,
    /// Why the stream broke off, if the last one did.
    cut: Option<ModelError>,
    /// The API's message id of the last response.
    last_message_id: Option<String>,
    /// The API's details of the last refusal.
    refusal: Option<ModelRefusal>,
    /// Feedback of a Stop hook to the model.
    feedback: Feedback,
    stop_hook_active: bool,
    /// Whether the user is still to be notified that a Stop hook objects.
    notify_stop_error: bool,
    /// How many incomplete blocks of a cancelled response were sent.
    shown_partly: usize,
}

/// Feedback of a Stop hook to the model.
enum Feedback {
    /// Why it has to continue; the user sees it, too.
    Objection(String),
    /// Context for the model alone.
    Context(String),
}

impl Default for Feedback {
    fn default() -> Self {
        Self::Context(String::new())
    }
}

/// The input that woke the loop.
enum Woken {
    Interrupted,
    Stepped(Step),
    Finished(Box<CallOutcome>),
}

impl<'a> TurnRun<'a> {
    /// A turn for `prompts`, which the conversation already holds.
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
            response: None,
            calls,
            report: Box::new(Report::new()),
            prompts,
            announced: false,
            thinking: ThinkingMeter::default(),
            happened: VecDeque::from([Event::Prompted]),
            cut: None,
            last_message_id: None,
            refusal: None,
            feedback: Feedback::default(),
            stop_hook_active: false,
            notify_stop_error: false,
            shown_partly: 0,
        }
    }

    /// Runs the turn to its end.
    ///
    /// Cancel safety: must be polled to its end; `cancel` brings that about soon.
    pub(crate) async fn run(mut self) -> Box<Report> {
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
            if event == Event::Interrupted {
                self.agent.session.turn.interrupt_acknowledged().await;
            }
            for effect in self.turn.step(event) {
                self.perform(effect).await;
            }
        }
        self.report
    }

    async fn wake(&mut self) -> Woken {
        let Self { cancel, calls, response, .. } = self;
        tokio::select! {
            // An interrupt takes precedence over everything; available stream events over results.
            biased;
            () = cancel.cancelled() => Woken::Interrupted,
            step = next_step(response) => Woken::Stepped(step),
            Some(outcome) = calls.next() => Woken::Finished(outcome),
        }
    }

    async fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::CallModel => self.call_model().await,
            Effect::StopModel => self.stop_model().await,
            Effect::RunTool(id) => {
                self.calls.start(&id);
                // The call starts before the next stream event is handled.
                tokio::task::yield_now().await;
            }
            Effect::StopTool(id) => self.calls.stop(&id),
            Effect::Nudge(nudge) => self.nudge(nudge).await,
            Effect::RunStopHooks => self.run_stop_hooks().await,
            Effect::OverrideStopHooks => self.agent.override_stop_hooks().await,
            Effect::End(ending) => self.end(ending).await,
        }
    }
}

/// End of the turn.
impl TurnRun<'_> {
    async fn end(&mut self, ending: Ending) {
        tracing::debug!(?ending, "the turn ends");
        self.report.ending = Some(ending);
        match ending {
            Ending::AbortedStreaming => {
                if !self.agent.session.turn.is_preempted() {
                    self.interrupted(texts::INTERRUPTED).await;
                }
                self.abort_stream().await;
            }
            Ending::AbortedTools => {
                self.collect_stopped().await;
                self.interrupted(texts::INTERRUPTED_TOOLS).await;
            }
            _ => self.collect_stopped().await,
        }
        // The last of too many cut streams has not been reported yet.
        if let Some(error) = self.cut.take().filter(|_| ending == Ending::ApiError) {
            self.fail(error).await;
        }
        match ending {
            Ending::OutputLimit => self.fail_output_limit().await,
            Ending::Refused => self.fail_refused().await,
            _ => {}
        }
        self.response = None;
    }

    /// Adds a result for every call, also for stopped ones: the API requires it.
    async fn collect_stopped(&mut self) {
        for outcome in self.calls.drain(STOP_GRACE).await {
            self.show(outcome.into()).await;
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
            self.agent.emit_user(UserMessage::prompt(blocks).into()).await;
        }
    }
}

async fn next_step(response: &mut Option<ModelResponse>) -> Step {
    match response {
        Some(response) => response.next().await,
        None => std::future::pending().await,
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}
