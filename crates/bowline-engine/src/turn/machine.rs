//! The turn as data: what happened goes in, what to do comes out. No I/O, no clock.
//!
//! One turn is everything between a prompt and its result. The machine decides
//! when to call the model, when to wait for tools, when the turn is over and how;
//! the caller performs the effects and reports back.

use std::collections::BTreeSet;

use bowline_protocol::{StopReason, ToolUseId};

/// How often in a row the model may run into its output limit before the turn fails.
const OUTPUT_LIMIT_RECOVERIES: u32 = 3;
/// How often the model may decline to answer before the turn fails.
const REFUSAL_RECOVERIES: u32 = 1;
/// How often an answer without any content is asked for again.
const EMPTY_ANSWER_RECOVERIES: u32 = 1;
/// How often in a row the stream may break off before the turn fails.
const CUT_RECOVERIES: u32 = 3;
/// How often the API may pause in the middle of an answer. Each pause is some minutes of its own tools.
const MOST_PAUSES: u32 = 64;
/// How often structured output may miss its schema before the turn fails.
const STRUCTURED_OUTPUT_ATTEMPTS: u32 = 5;

/// What bounds a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Model round trips; `None` for no limit.
    pub max_rounds: Option<u32>,
    /// How often Stop hooks may send the model back to work.
    pub stop_hook_blocks: u32,
    /// Whether the turn is to end with a call of the structured output tool.
    pub structured_output: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_rounds: None, stop_hook_blocks: 8, structured_output: false }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The prompt was accepted.
    Prompted,
    /// The model completed a tool call while it still speaks.
    Called(ToolUseId),
    /// The model has finished speaking.
    Answered {
        /// Why it stopped.
        stop_reason: Option<StopReason>,
        /// Whether it said anything at all.
        empty: bool,
    },
    /// The stream broke off after at least one complete block.
    Cut,
    /// The model could not be reached, or refused for good.
    Failed,
    /// A tool call has its result.
    Finished(ToolUseId, Then),
    /// Stop hooks let the turn end.
    StopAllowed,
    /// A Stop hook wants the model to go on.
    StopBlocked,
    /// A Stop hook ended the turn in its own name.
    StopPrevented,
    /// A hook stopped the turn after a batch of calls.
    BatchStopped,
    /// The money is spent.
    BudgetExhausted,
    /// Somebody interrupted.
    Interrupted,
}

/// What a finished tool call means for the turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Then {
    /// Nothing special: the model gets the result.
    GoOn,
    /// The structured output is there.
    StructuredOutput,
    /// The structured output did not fit its schema.
    StructuredOutputRejected,
    /// A hook stopped the turn after this call.
    HookStopped,
    /// A hook put the call off; the host will see to it.
    Deferred,
    /// The person refused the call and the whole turn with it.
    Refused,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send the conversation to the model.
    CallModel,
    /// Stop listening to the model.
    StopModel,
    /// Let this call run as soon as its neighbors allow.
    RunTool(ToolUseId),
    /// Cancel this call.
    StopTool(ToolUseId),
    /// Tell the model something it did not ask for.
    Nudge(Nudge),
    /// Ask the Stop hooks.
    AskStopHooks,
    /// Tell the user that the Stop hooks are not asked any more.
    OverrideStopHooks,
    /// The turn is over.
    End(Ending),
}

/// Why the engine itself says something to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nudge {
    /// It ran into the output limit: go on where you stopped.
    OutputLimit,
    /// The stream broke off: go on where you stopped.
    CutStream,
    /// It said nothing: continue.
    EmptyAnswer,
    /// It declined: continue without that.
    Refusal,
    /// It has not called the structured output tool.
    StructuredOutput,
    /// A Stop hook has feedback.
    StopFeedback,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The model was done.
    Completed,
    /// A hook stopped the turn.
    HookStopped,
    /// A Stop hook ended the turn in its own name.
    StopHookPrevented,
    /// A tool call was put off.
    Deferred,
    /// Interrupted while the model spoke.
    AbortedStreaming,
    /// Interrupted, or refused for good, while tools ran.
    AbortedTools,
    /// Too many round trips.
    MaxTurns,
    /// The money is spent.
    BudgetExhausted,
    /// The model could not be reached, or refused for good.
    ApiError,
    /// The output limit was met again and again.
    OutputLimit,
    /// The model declined to answer, and did so again when it was asked to go on.
    Refused,
    /// The structured output never fitted its schema.
    StructuredOutputRetries,
}

/// A turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    state: State,
    tally: Tally,
    limits: Limits,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Ready,
    /// The model speaks; what it has called may run already.
    Answering(Calls),
    /// The model waits for these.
    Acting(Calls),
    /// The Stop hooks decide.
    Stopping,
    Ended,
}

/// The tool calls of one answer.
#[derive(Debug, Clone, Default, PartialEq)]
struct Calls {
    unfinished: BTreeSet<ToolUseId>,
    any: bool,
    /// Whether the model declined to go on after them.
    refused: bool,
    /// The first call that ends the turn decides how.
    ending: Option<Ending>,
}

/// What is counted over the whole turn.
#[derive(Debug, Clone, Default, PartialEq)]
struct Tally {
    rounds: u32,
    /// In a row.
    cuts: u32,
    pauses: u32,
    /// In a row.
    output_limits: u32,
    empty_answers: u32,
    refusals: u32,
    stop_blocks: u32,
    rejected_outputs: u32,
    demanded_output: bool,
}

impl Turn {
    /// A turn that waits for its prompt.
    pub fn new(limits: Limits) -> Self {
        Self { state: State::Ready, tally: Tally::default(), limits }
    }

    /// Whether the turn is over.
    pub fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// Moves on. An event that is invalid in a state changes nothing.
    #[must_use]
    pub fn step(&mut self, event: Event) -> Vec<Effect> {
        match (std::mem::replace(&mut self.state, State::Ended), event) {
            (State::Ended, _) => vec![],
            // The model was done: there is nothing left to interrupt but the hooks.
            (State::Stopping, Event::Interrupted) => vec![Effect::End(Ending::Completed)],
            (state, Event::Interrupted) => interrupt(state),
            (state, Event::BudgetExhausted) => stop_everything(&state, Ending::BudgetExhausted),
            (state, Event::BatchStopped) => stop_everything(&state, Ending::HookStopped),
            (State::Ready, Event::Prompted) => self.call_model(),
            (State::Answering(mut calls), Event::Called(id)) => {
                calls.any = true;
                calls.unfinished.insert(id.clone());
                self.state = State::Answering(calls);
                vec![Effect::RunTool(id)]
            }
            (State::Answering(calls), Event::Answered { stop_reason, empty }) => {
                self.answered(calls, stop_reason, empty)
            }
            (State::Answering(calls), Event::Cut) if !calls.any => {
                self.tally.cuts += 1;
                match self.tally.cuts > CUT_RECOVERIES {
                    true => vec![Effect::End(Ending::ApiError)],
                    false => self.nudge(Nudge::CutStream),
                }
            }
            // The calls that came through are complete: their results tell the model to go on.
            (State::Answering(calls), Event::Cut) => self.act(calls),
            (State::Answering(calls), Event::Failed) => {
                stop_everything(&State::Acting(calls), Ending::ApiError)
            }
            (State::Answering(mut calls), Event::Finished(id, then)) => {
                self.finish(&mut calls, &id, then);
                if calls.ending == Some(Ending::AbortedTools) {
                    return stop_everything(&State::Answering(calls), Ending::AbortedTools);
                }
                self.state = State::Answering(calls);
                vec![]
            }
            (State::Acting(mut calls), Event::Finished(id, then)) => {
                self.finish(&mut calls, &id, then);
                self.act(calls)
            }
            (State::Stopping, Event::StopAllowed) => vec![Effect::End(Ending::Completed)],
            (State::Stopping, Event::StopPrevented) => {
                vec![Effect::End(Ending::StopHookPrevented)]
            }
            (State::Stopping, Event::StopBlocked) => {
                self.tally.stop_blocks += 1;
                match self.tally.stop_blocks > self.limits.stop_hook_blocks {
                    true => vec![
                        Effect::Nudge(Nudge::StopFeedback),
                        Effect::OverrideStopHooks,
                        Effect::End(Ending::Completed),
                    ],
                    false => self.nudge(Nudge::StopFeedback),
                }
            }
            (state, _) => {
                self.state = state;
                vec![]
            }
        }
    }

    fn answered(
        &mut self,
        mut calls: Calls,
        stop_reason: Option<StopReason>,
        empty: bool,
    ) -> Vec<Effect> {
        let tally = &mut self.tally;
        tally.cuts = 0;
        // Tool calls decide, not the stop reason.
        if calls.any {
            tally.output_limits = 0;
            calls.refused = stop_reason == Some(StopReason::Refusal);
            return self.act(calls);
        }
        match stop_reason {
            Some(StopReason::MaxTokens | StopReason::ModelContextWindowExceeded) => {
                tally.output_limits += 1;
                match tally.output_limits > OUTPUT_LIMIT_RECOVERIES {
                    true => vec![Effect::End(Ending::OutputLimit)],
                    false => self.nudge(Nudge::OutputLimit),
                }
            }
            Some(StopReason::PauseTurn) if !empty && tally.pauses < MOST_PAUSES => {
                tally.pauses += 1;
                self.call_model()
            }
            Some(StopReason::Refusal) => self.refused(),
            _ if empty && tally.empty_answers < EMPTY_ANSWER_RECOVERIES => {
                tally.empty_answers += 1;
                self.nudge(Nudge::EmptyAnswer)
            }
            _ if self.limits.structured_output && !tally.demanded_output => {
                tally.demanded_output = true;
                self.nudge(Nudge::StructuredOutput)
            }
            _ => {
                self.state = State::Stopping;
                vec![Effect::AskStopHooks]
            }
        }
    }

    fn finish(&mut self, calls: &mut Calls, id: &ToolUseId, then: Then) {
        calls.unfinished.remove(id);
        let ending = match then {
            Then::GoOn => None,
            Then::StructuredOutput => Some(Ending::Completed),
            Then::StructuredOutputRejected => {
                self.tally.rejected_outputs += 1;
                (self.tally.rejected_outputs >= STRUCTURED_OUTPUT_ATTEMPTS)
                    .then_some(Ending::StructuredOutputRetries)
            }
            Then::HookStopped => Some(Ending::HookStopped),
            Then::Deferred => Some(Ending::Deferred),
            Then::Refused => Some(Ending::AbortedTools),
        };
        calls.ending = calls.ending.or(ending);
    }

    /// The answer is complete: wait for its tools, or go on if they are done.
    fn act(&mut self, calls: Calls) -> Vec<Effect> {
        match calls.ending {
            // Nobody will read the other results: the person refused the whole turn.
            Some(Ending::AbortedTools) => {
                stop_everything(&State::Acting(calls), Ending::AbortedTools)
            }
            _ if !calls.unfinished.is_empty() => {
                self.state = State::Acting(calls);
                vec![]
            }
            Some(ending) => vec![Effect::End(ending)],
            None if calls.refused => self.refused(),
            None => self.call_model(),
        }
    }

    /// The model declines: once it is asked to go on without what it declined.
    fn refused(&mut self) -> Vec<Effect> {
        self.tally.refusals += 1;
        match self.tally.refusals > REFUSAL_RECOVERIES {
            true => vec![Effect::End(Ending::Refused)],
            false => self.nudge(Nudge::Refusal),
        }
    }

    fn nudge(&mut self, nudge: Nudge) -> Vec<Effect> {
        let mut effects = vec![Effect::Nudge(nudge)];
        effects.extend(self.call_model());
        effects
    }

    fn call_model(&mut self) -> Vec<Effect> {
        if self.limits.max_rounds.is_some_and(|max| self.tally.rounds >= max) {
            self.state = State::Ended;
            return vec![Effect::End(Ending::MaxTurns)];
        }
        self.tally.rounds += 1;
        self.state = State::Answering(Calls::default());
        vec![Effect::CallModel]
    }
}

fn interrupt(state: State) -> Vec<Effect> {
    let ending = match &state {
        State::Answering(calls) if !calls.any => Ending::AbortedStreaming,
        State::Answering(_) | State::Acting(_) => Ending::AbortedTools,
        State::Ready | State::Stopping | State::Ended => Ending::AbortedStreaming,
    };
    stop_everything(&state, ending)
}

fn stop_everything(state: &State, ending: Ending) -> Vec<Effect> {
    let (model, calls) = match state {
        State::Answering(calls) => (Some(Effect::StopModel), Some(calls)),
        State::Acting(calls) => (None, Some(calls)),
        State::Ready | State::Stopping | State::Ended => (None, None),
    };
    let tools = calls.into_iter().flat_map(|calls| calls.unfinished.iter().cloned());
    model.into_iter().chain(tools.map(Effect::StopTool)).chain([Effect::End(ending)]).collect()
}

#[cfg(test)]
mod tests;
