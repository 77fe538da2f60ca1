//! The turn as a state machine: events in, effects out. No I/O, no clock.
//!
//! One turn is everything between a prompt and its result. The machine decides
//! when to call the model, when to wait for tools, when the turn is over and how;
//! the caller performs the effects and reports back.

use std::collections::BTreeSet;

use bowline_protocol::{StopReason, ToolUseId};

/// How often in a row the model may run into its output limit before the turn fails.
const OUTPUT_LIMIT_RECOVERIES: u32 = 3;
/// How often the model may refuse before the turn fails.
const REFUSAL_RECOVERIES: u32 = 1;
/// How often a response without content is requested again.
const EMPTY_RESPONSE_RECOVERIES: u32 = 1;
/// How often in a row the stream may break off before the turn fails.
const CUT_RECOVERIES: u32 = 3;
/// How often the API may pause in the middle of a response (`pause_turn`). Each pause is some minutes
/// of server-side tools.
const MAX_PAUSES: u32 = 64;
/// How often structured output may miss its schema before the turn fails.
const STRUCTURED_OUTPUT_ATTEMPTS: u32 = 5;

/// The limits of a turn.
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

/// An event that moves the turn on.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The prompt was accepted.
    Prompted,
    /// The model completed a tool call while its response still streams.
    Called(ToolUseId),
    /// The model's response is complete.
    ResponseEnded {
        /// Why it stopped.
        stop_reason: Option<StopReason>,
        /// Whether it has no content besides thinking.
        empty: bool,
    },
    /// The stream broke off after at least one complete block.
    Cut,
    /// The request failed and is not retried.
    Failed,
    /// A tool call has its result.
    Finished(ToolUseId, AfterCall),
    /// Stop hooks let the turn end.
    StopAllowed,
    /// A Stop hook wants the model to continue.
    StopBlocked,
    /// A Stop hook ended the turn (`continue: false`).
    StopPrevented,
    /// A hook stopped the turn after a batch of calls.
    BatchStopped,
    /// The budget is spent.
    BudgetExhausted,
    /// The host interrupted the turn.
    Interrupted,
}

/// The effect of a finished tool call on the turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AfterCall {
    /// None: the model gets the result.
    Continue,
    /// The structured output is complete.
    StructuredOutput,
    /// The structured output did not fit its schema.
    StructuredOutputRejected,
    /// A hook stopped the turn after this call.
    HookStopped,
    /// A hook deferred the call to the host.
    Deferred,
    /// The user refused the call and the whole turn with it.
    Refused,
}

/// An action that the caller performs.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send the conversation to the model.
    CallModel,
    /// Cancel the model's response.
    StopModel,
    /// Run this call as soon as its concurrency allows.
    RunTool(ToolUseId),
    /// Cancel this call.
    StopTool(ToolUseId),
    /// Send the model a message of the engine.
    Nudge(Nudge),
    /// Run the Stop hooks.
    RunStopHooks,
    /// Notify the user that the Stop hooks' objections are overridden.
    OverrideStopHooks,
    /// The turn is over.
    End(Ending),
}

/// The reason of a message from the engine to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nudge {
    /// The response hit the output limit: the model is to continue it.
    OutputLimit,
    /// The stream broke off: the model is to continue the response.
    CutStream,
    /// The response had no content.
    EmptyResponse,
    /// The model refused: it is to continue without that content.
    Refusal,
    /// The model has not called the structured output tool.
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
    /// A Stop hook ended the turn (`continue: false`).
    StopHookPrevented,
    /// A tool call was deferred.
    Deferred,
    /// Interrupted while the model responded.
    AbortedStreaming,
    /// Interrupted, or refused by the user, while tools ran.
    AbortedTools,
    /// Too many round trips.
    MaxTurns,
    /// The budget is spent.
    BudgetExhausted,
    /// The request failed and was not retried.
    ApiError,
    /// The output limit was hit too often in a row.
    OutputLimit,
    /// The model refused, and refused again after the nudge.
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
    /// The response streams; the calls that are complete may run already.
    Responding(Calls),
    /// The response is complete; these calls are not.
    RunningTools(Calls),
    /// The Stop hooks decide.
    Stopping,
    Ended,
}

/// The tool calls of one response.
#[derive(Debug, Clone, Default, PartialEq)]
struct Calls {
    unfinished: BTreeSet<ToolUseId>,
    any: bool,
    /// Whether the model refused to continue after them.
    refused: bool,
    /// The first call that ends the turn decides how.
    ending: Option<Ending>,
}

/// Counters over the whole turn.
#[derive(Debug, Clone, Default, PartialEq)]
struct Tally {
    rounds: u32,
    /// In a row.
    cuts: u32,
    pauses: u32,
    /// In a row.
    output_limits: u32,
    empty_responses: u32,
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

    /// Applies an event. One that is invalid in the current state changes nothing.
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
            (State::Responding(mut calls), Event::Called(id)) => {
                calls.any = true;
                calls.unfinished.insert(id.clone());
                self.state = State::Responding(calls);
                vec![Effect::RunTool(id)]
            }
            (State::Responding(calls), Event::ResponseEnded { stop_reason, empty }) => {
                self.response_ended(calls, stop_reason, empty)
            }
            (State::Responding(calls), Event::Cut) if !calls.any => {
                self.tally.cuts += 1;
                match self.tally.cuts > CUT_RECOVERIES {
                    true => vec![Effect::End(Ending::ApiError)],
                    false => self.nudge(Nudge::CutStream),
                }
            }
            // The calls that arrived are complete: with their results the model continues.
            (State::Responding(calls), Event::Cut) => self.run_tools(calls),
            (State::Responding(calls), Event::Failed) => {
                stop_everything(&State::RunningTools(calls), Ending::ApiError)
            }
            (State::Responding(mut calls), Event::Finished(id, then)) => {
                self.finish(&mut calls, &id, then);
                if calls.ending == Some(Ending::AbortedTools) {
                    return stop_everything(&State::Responding(calls), Ending::AbortedTools);
                }
                self.state = State::Responding(calls);
                vec![]
            }
            (State::RunningTools(mut calls), Event::Finished(id, then)) => {
                self.finish(&mut calls, &id, then);
                self.run_tools(calls)
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

    fn response_ended(
        &mut self,
        mut calls: Calls,
        stop_reason: Option<StopReason>,
        empty: bool,
    ) -> Vec<Effect> {
        let tally = &mut self.tally;
        tally.cuts = 0;
        // Tool calls take precedence over the stop reason.
        if calls.any {
            tally.output_limits = 0;
            calls.refused = stop_reason == Some(StopReason::Refusal);
            return self.run_tools(calls);
        }
        match stop_reason {
            Some(StopReason::MaxTokens | StopReason::ModelContextWindowExceeded) => {
                tally.output_limits += 1;
                match tally.output_limits > OUTPUT_LIMIT_RECOVERIES {
                    true => vec![Effect::End(Ending::OutputLimit)],
                    false => self.nudge(Nudge::OutputLimit),
                }
            }
            Some(StopReason::PauseTurn) if !empty && tally.pauses < MAX_PAUSES => {
                tally.pauses += 1;
                self.call_model()
            }
            Some(StopReason::Refusal) => self.refused(),
            _ if empty && tally.empty_responses < EMPTY_RESPONSE_RECOVERIES => {
                tally.empty_responses += 1;
                self.nudge(Nudge::EmptyResponse)
            }
            _ if self.limits.structured_output && !tally.demanded_output => {
                tally.demanded_output = true;
                self.nudge(Nudge::StructuredOutput)
            }
            _ => {
                self.state = State::Stopping;
                vec![Effect::RunStopHooks]
            }
        }
    }

    fn finish(&mut self, calls: &mut Calls, id: &ToolUseId, then: AfterCall) {
        calls.unfinished.remove(id);
        let ending = match then {
            AfterCall::Continue => None,
            AfterCall::StructuredOutput => Some(Ending::Completed),
            AfterCall::StructuredOutputRejected => {
                self.tally.rejected_outputs += 1;
                (self.tally.rejected_outputs >= STRUCTURED_OUTPUT_ATTEMPTS)
                    .then_some(Ending::StructuredOutputRetries)
            }
            AfterCall::HookStopped => Some(Ending::HookStopped),
            AfterCall::Deferred => Some(Ending::Deferred),
            AfterCall::Refused => Some(Ending::AbortedTools),
        };
        calls.ending = calls.ending.or(ending);
    }

    /// The response is complete: waits for its tools, or continues if they are done.
    fn run_tools(&mut self, calls: Calls) -> Vec<Effect> {
        match calls.ending {
            // The user refused the whole turn, so the other results are of no use.
            Some(Ending::AbortedTools) => {
                stop_everything(&State::RunningTools(calls), Ending::AbortedTools)
            }
            _ if !calls.unfinished.is_empty() => {
                self.state = State::RunningTools(calls);
                vec![]
            }
            Some(ending) => vec![Effect::End(ending)],
            None if calls.refused => self.refused(),
            None => self.call_model(),
        }
    }

    /// The model refused: nudges it once, then ends the turn.
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
        self.state = State::Responding(Calls::default());
        vec![Effect::CallModel]
    }
}

fn interrupt(state: State) -> Vec<Effect> {
    let ending = match &state {
        State::Responding(calls) if !calls.any => Ending::AbortedStreaming,
        State::Responding(_) | State::RunningTools(_) => Ending::AbortedTools,
        State::Ready | State::Stopping | State::Ended => Ending::AbortedStreaming,
    };
    stop_everything(&state, ending)
}

fn stop_everything(state: &State, ending: Ending) -> Vec<Effect> {
    let (model, calls) = match state {
        State::Responding(calls) => (Some(Effect::StopModel), Some(calls)),
        State::RunningTools(calls) => (None, Some(calls)),
        State::Ready | State::Stopping | State::Ended => (None, None),
    };
    let tools = calls.into_iter().flat_map(|calls| calls.unfinished.iter().cloned());
    model.into_iter().chain(tools.map(Effect::StopTool)).chain([Effect::End(ending)]).collect()
}

#[cfg(test)]
mod tests;
