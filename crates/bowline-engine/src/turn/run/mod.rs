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
    answer: Option<ModelResponse>,
    calls: Calls,
    report: Box<Report>,
    /// The prompts this turn answers, for the first frame that answers them.
    prompts: Vec<MessageUuid>,
    announced: bool,
    thinking: ThinkingMeter,
    /// What happened while an effect was performed.
    happened: VecDeque<Event>,
    /// Why the stream broke off, if the last one did.
    cut: Option<ModelError>,
    /// The API's name of the last answer.
    last_answer: Option<String>,
    /// What the API said about the last answer that the model declined to give.
    refusal: Option<ModelRefusal>,
    /// What a Stop hook wants the model to hear.
    feedback: Feedback,
    stop_hook_active: bool,
    /// Whether the user is still to hear that a Stop hook objects.
    stop_trouble: bool,
    /// How many blocks of an answer that was stopped were shown although they are not complete.
    shown_partly: usize,
}

/// What a Stop hook wants the model to hear.
enum Feedback {
    /// Why it has to go on, as everybody may see.
    Objection(String),
    /// What it should know.
    Context(String),
}

impl Default for Feedback {
    fn default() -> Self {
        Self::Context(String::new())
    }
}

/// What woke the loop.
enum Woken {
    Interrupted,
    Stepped(Step),
    Finished(Box<CallOutcome>),
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
            report: Box::new(Report::new()),
            prompts,
            announced: false,
            thinking: ThinkingMeter::default(),
            happened: VecDeque::from([Event::Prompted]),
            cut: None,
            last_answer: None,
            refusal: None,
            feedback: Feedback::default(),
            stop_hook_active: false,
            stop_trouble: false,
            shown_partly: 0,
        }
    }

    /// Runs the turn to its end.
    ///
    /// Cancel safety: to be polled to its end; `cancel` makes that soon.
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
            Effect::OverrideStopHooks => self.agent.override_stop_hooks().await,
            Effect::End(ending) => self.end(ending).await,
        }
    }
}

/// How it ends.
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
        // A stream that breaks off again and again is a failure that was not reported yet.
        if let Some(error) = self.cut.take().filter(|_| ending == Ending::ApiError) {
            self.fail(error).await;
        }
        match ending {
            Ending::OutputLimit => self.give_up_on_limits().await,
            Ending::Refused => self.give_up_on_refusals().await,
            _ => {}
        }
        self.answer = None;
    }

    /// Every call gets its result, also those that were stopped.
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
            self.agent.say_user(UserMessage::prompt(blocks).into()).await;
        }
    }
}

async fn next_step(answer: &mut Option<ModelResponse>) -> Step {
    match answer {
        Some(answer) => answer.next().await,
        None => std::future::pending().await,
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}
