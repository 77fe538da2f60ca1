//! The tool calls of one answer: which wait, which run, and what they came to.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bowline_model::UNPARSED_INPUT;
use bowline_protocol::{ContentBlock, RawJson, ToolUseBlock, ToolUseId, ToolUseMeta};
use bowline_tools::ToolFailure;
use tokio::task::{self, JoinError, JoinSet};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    machine::Then,
    outcome::CallOutcome,
    pipeline::{self, CallContext},
    schedule::{Beside, Schedule},
};
use crate::agent::Agent;

/// The tool calls of the answer under way.
pub(crate) struct Calls {
    context: Arc<CallContext>,
    cancel: CancellationToken,
    schedule: Schedule,
    /// Calls that have not begun.
    waiting: HashMap<ToolUseId, Arc<ToolUseBlock>>,
    tasks: JoinSet<Box<CallOutcome>>,
    running: HashMap<task::Id, Running>,
    /// The place of each call among those the model made.
    order: HashMap<ToolUseId, usize>,
    results: Vec<CallOutcome>,
    /// The result of the call that ended last, until the host has seen it. Calls that begin
    /// meanwhile do not run before.
    unshown: Option<Unshown>,
}

/// A result on its way to the host; gone, it has arrived.
struct Unshown {
    shown: CancellationToken,
    _guard: DropGuard,
}

struct Running {
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
            running: HashMap::new(),
            order: HashMap::new(),
            results: Vec::new(),
            unshown: None,
        }
    }

    /// The call with the input as the tool takes it, if it takes it at all.
    pub(crate) fn complete_input(&self, mut call: ToolUseBlock) -> ToolUseBlock {
        let input = call.input.to_value();
        if input.get(UNPARSED_INPUT).is_none()
            && let Ok(input) = self.context.tools.complete_input(&call.name, input)
        {
            call.input = RawJson::from(input);
        }
        call
    }

    /// Whether the answer has a call of this name already.
    pub(crate) fn knows(&self, id: &ToolUseId) -> bool {
        self.order.contains_key(id)
    }

    /// What a host shows of a call of an MCP tool.
    pub(crate) fn meta(&self, block: &ContentBlock) -> Option<Vec<ToolUseMeta>> {
        let ContentBlock::ToolUse(call) = block else { return None };
        self.context.tools.meta(call).map(|meta| vec![meta])
    }

    /// Notes a call; [`start`](Self::start) lines it up.
    pub(crate) fn add(&mut self, call: ToolUseBlock) {
        self.order.insert(call.id.clone(), self.order.len());
        self.waiting.insert(call.id.clone(), Arc::new(call));
    }

    /// Lines a call up and starts what may run.
    pub(crate) fn start(&mut self, id: &ToolUseId) {
        if let Some(call) = self.waiting.get(id) {
            let beside = match self.context.tools.is_concurrency_safe(call) {
                true => Beside::Safe,
                false => Beside::Nothing,
            };
            self.schedule.add(id.clone(), beside);
            self.start_ready();
        }
    }

    /// Stops a call. One that has not begun never will.
    pub(crate) fn stop(&mut self, id: &ToolUseId) {
        self.schedule.end(id);
        for running in self.running.values().filter(|running| running.call.id == *id) {
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

    /// The host has seen the result of the call that ended last.
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

    /// Stops everything and returns what every unfinished call came to.
    pub(crate) async fn drain(&mut self, grace: Duration) -> Vec<CallOutcome> {
        for running in self.running.values() {
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
        let waiting = std::mem::take(&mut self.waiting);
        outcomes.extend(waiting.into_values().map(CallOutcome::interrupted));
        outcomes.sort_by_key(|outcome| self.order.get(outcome.id()).copied());
        self.schedule = Schedule::default();
        outcomes
    }

    fn start_ready(&mut self) {
        for id in self.schedule.start() {
            let Some(call) = self.waiting.remove(&id) else { continue };
            let cancel = self.cancel.child_token();
            let before = self.unshown.as_ref().map(|unshown| unshown.shown.clone());
            let run =
                pipeline::run(Arc::clone(&self.context), call.clone(), before, cancel.clone());
            // In a box, because a task is copied some times before it runs, and this is kilobytes.
            let task = self.tasks.spawn(Box::pin(run));
            self.running.insert(task.id(), Running { call, cancel });
        }
    }

    fn ended(&mut self, done: Result<(task::Id, Box<CallOutcome>), JoinError>) -> Box<CallOutcome> {
        let task = done.as_ref().map_or_else(JoinError::id, |(task, _)| *task);
        let running = self.running.remove(&task);
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
        // Whoever refused the whole turn is not asked about the next call.
        if outcome.then != Then::Refused {
            self.start_ready();
        }
        outcome
    }
}
