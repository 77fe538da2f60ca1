//! Tool calls of one response: waiting, running, and their results.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bowline_model::UNPARSED_INPUT;
use bowline_protocol::{ContentBlock, RawJson, ToolUseBlock, ToolUseId, ToolUseMeta};
use bowline_tools::ToolFailure;
use serde_json::Value;
use tokio::task::{self, JoinError, JoinSet};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    machine::AfterCall,
    outcome::CallOutcome,
    pipeline::{self, CallContext},
    schedule::{Concurrency, Schedule},
};
use crate::agent::Agent;

/// The tool calls of the response in progress.
pub(crate) struct Calls {
    context: Arc<CallContext>,
    cancel: CancellationToken,
    schedule: Schedule,
    /// Calls that have not begun.
    waiting: HashMap<ToolUseId, WaitingCall>,
    tasks: JoinSet<Box<CallOutcome>>,
    running: Vec<RunningCall>,
    /// The index of each call in the order in which the model made them.
    order: HashMap<ToolUseId, usize>,
    results: Vec<CallOutcome>,
    /// The result of the call that ended last, until it is sent. Calls that start meanwhile wait
    /// for it, so that the host sees messages in their order.
    unshown: Option<Unshown>,
}

/// A result that is not sent yet; dropped once it is, which cancels the token and so releases
/// the calls that wait.
struct Unshown {
    shown: CancellationToken,
    _guard: DropGuard,
}

/// A call that has not begun.
struct WaitingCall {
    call: Arc<ToolUseBlock>,
    /// Its parsed input.
    input: Value,
}

struct RunningCall {
    task: task::Id,
    call: Arc<ToolUseBlock>,
    cancel: CancellationToken,
}

impl Calls {
    pub(crate) fn new(agent: &Agent, cancel: &CancellationToken) -> Self {
        Self {
            context: Arc::new(CallContext::of(agent)),
            cancel: cancel.clone(),
            schedule: Schedule::default(),
            waiting: HashMap::new(),
            tasks: JoinSet::new(),
            running: Vec::new(),
            order: HashMap::new(),
            results: Vec::new(),
            unshown: None,
        }
    }

    /// Normalizes a valid input to the schema of its tool, and returns it parsed.
    pub(crate) fn complete_input(&self, call: &mut ToolUseBlock) -> Value {
        let input = call.input.to_value();
        if input.get(UNPARSED_INPUT).is_some() {
            return input;
        }
        match self.context.tools.complete_input(&call.name, input) {
            Ok(input) => {
                call.input = RawJson::from_value(&input).expect("a JSON tree always serializes");
                input
            }
            Err(_) => call.input.to_value(),
        }
    }

    /// Whether the response already has a call with this id.
    pub(crate) fn contains(&self, id: &ToolUseId) -> bool {
        self.order.contains_key(id)
    }

    /// Display metadata of a call of an MCP tool.
    pub(crate) fn meta(&self, block: &ContentBlock) -> Option<Vec<ToolUseMeta>> {
        let ContentBlock::ToolUse(call) = block else { return None };
        self.context.tools.meta(call).map(|meta| vec![meta])
    }

    /// Adds a call and its input; [`start`](Self::start) schedules it.
    pub(crate) fn add(&mut self, call: ToolUseBlock, input: Value) {
        self.order.insert(call.id.clone(), self.order.len());
        self.waiting.insert(call.id.clone(), WaitingCall { call: Arc::new(call), input });
    }

    /// Schedules a call and starts every call that may run.
    pub(crate) fn start(&mut self, id: &ToolUseId) {
        if let Some(WaitingCall { call, input }) = self.waiting.get(id) {
            let concurrency = Concurrency::of(&self.context.tools, &call.name, input);
            self.schedule.add(id.clone(), concurrency);
            self.start_ready();
        }
    }

    /// Stops a call; one that has not begun never starts.
    pub(crate) fn stop(&mut self, id: &ToolUseId) {
        self.schedule.end(id);
        for running in self.running.iter().filter(|running| running.call.id == *id) {
            running.cancel.cancel();
        }
    }

    /// The next call that ends; `None` while none runs.
    ///
    /// Cancel safety: nothing is lost.
    pub(crate) async fn next(&mut self) -> Option<Box<CallOutcome>> {
        let done = self.tasks.join_next_with_id().await?;
        Some(self.ended(done))
    }

    /// Keeps a result until [`take_results`](Self::take_results).
    pub(crate) fn keep(&mut self, outcome: CallOutcome) {
        self.results.push(outcome);
    }

    /// Notes that the result of the call that ended last is sent.
    pub(crate) fn shown(&mut self) {
        self.unshown = None;
    }

    /// The results, in the order of the calls.
    pub(crate) fn take_results(&mut self) -> Vec<CallOutcome> {
        let order = std::mem::take(&mut self.order);
        let mut results = std::mem::take(&mut self.results);
        results.sort_by_key(|outcome| order.get(outcome.id()).copied());
        results
    }

    /// Stops all calls and returns the outcomes of the unfinished ones.
    pub(crate) async fn drain(&mut self, grace: Duration) -> Vec<CallOutcome> {
        for running in &self.running {
            running.cancel.cancel();
        }
        let mut outcomes = Vec::new();
        let deadline = tokio::time::Instant::now() + grace;
        while !self.tasks.is_empty() {
            match tokio::time::timeout_at(deadline, self.tasks.join_next_with_id()).await {
                Ok(Some(done)) => {
                    outcomes.push(*self.ended(done));
                    self.shown();
                }
                Ok(None) => break,
                Err(_) => self.tasks.abort_all(),
            }
        }
        let waiting = std::mem::take(&mut self.waiting).into_values();
        outcomes.extend(waiting.map(|waiting| CallOutcome::interrupted(waiting.call)));
        outcomes.sort_by_key(|outcome| self.order.get(outcome.id()).copied());
        self.schedule = Schedule::default();
        outcomes
    }

    fn start_ready(&mut self) {
        for id in self.schedule.start() {
            let Some(WaitingCall { call, input }) = self.waiting.remove(&id) else { continue };
            let cancel = self.cancel.child_token();
            let before = self.unshown.as_ref().map(|unshown| unshown.shown.clone());
            let context = Arc::clone(&self.context);
            let run = pipeline::run(context, call.clone(), input, before, cancel.clone());
            // Boxed: the future is kilobytes, and spawning moves it several times.
            let task = self.tasks.spawn(Box::pin(run));
            self.running.push(RunningCall { task: task.id(), call, cancel });
        }
    }

    fn ended(&mut self, done: Result<(task::Id, Box<CallOutcome>), JoinError>) -> Box<CallOutcome> {
        let task = done.as_ref().map_or_else(JoinError::id, |(task, _)| *task);
        let index = self.running.iter().position(|running| running.task == task);
        let running = index.map(|index| self.running.swap_remove(index));
        let outcome = match (done, running) {
            (Ok((_, outcome)), _) => outcome,
            (Err(error), Some(running)) if error.is_panic() => {
                tracing::error!(tool = %running.call.name, "a tool panicked");
                let message = format!("{} failed: it crashed", running.call.name);
                Box::new(CallOutcome::failure(running.call, ToolFailure::running(message)))
            }
            (Err(_), Some(running)) => Box::new(CallOutcome::interrupted(running.call)),
            (Err(_), None) => Box::new(CallOutcome::interrupted(Arc::default())),
        };
        self.schedule.end(outcome.id());
        let shown = CancellationToken::new();
        self.unshown = Some(Unshown { _guard: shown.clone().drop_guard(), shown });
        // A refusal ends the whole turn, so the next call must not request permission.
        if outcome.then != AfterCall::Refused {
            self.start_ready();
        }
        outcome
    }
}
