//! Schedule of tool calls: concurrency-safe ones run together, others alone, all in order.

use std::collections::VecDeque;

use bowline_protocol::ToolUseId;
use serde_json::Value;

use crate::toolset::Toolset;

/// How many calls run at once. More would only queue on the same disk and cores.
const MAX_PARALLEL: usize = 10;

/// The calls of one response that wait or run.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    waiting: VecDeque<Call>,
    running: Vec<Call>,
}

#[derive(Debug, Clone, PartialEq)]
struct Call {
    id: ToolUseId,
    concurrency: Concurrency,
}

/// Whether a call may run concurrently with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Concurrency {
    /// It may run concurrently with other safe calls.
    Safe,
    /// It runs alone.
    Exclusive,
}

impl Concurrency {
    /// The concurrency that the tool declares for this input.
    pub(crate) fn of(tools: &Toolset, tool: &str, input: &Value) -> Self {
        match tools.is_concurrency_safe(tool, input) {
            true => Self::Safe,
            false => Self::Exclusive,
        }
    }
}

impl Schedule {
    /// Queues a call.
    pub(super) fn add(&mut self, id: ToolUseId, concurrency: Concurrency) {
        self.waiting.push_back(Call { id, concurrency });
    }

    /// The calls to start now. They are running from here on.
    pub(super) fn start(&mut self) -> Vec<ToolUseId> {
        let mut started = Vec::new();
        while let Some(next) = self.waiting.front() {
            let fits = match next.concurrency {
                _ if self.running.is_empty() => true,
                Concurrency::Exclusive => false,
                Concurrency::Safe => {
                    self.running.len() < MAX_PARALLEL
                        && self.running.iter().all(|call| call.concurrency == Concurrency::Safe)
                }
            };
            if !fits {
                break;
            }
            let Some(call) = self.waiting.pop_front() else { break };
            started.push(call.id.clone());
            self.running.push(call);
        }
        started
    }

    /// A call has ended, or was cancelled before it ran.
    pub(super) fn end(&mut self, id: &ToolUseId) {
        match self.running.iter().position(|call| call.id == *id) {
            Some(index) => drop(self.running.remove(index)),
            None => self.waiting.retain(|call| call.id != *id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Concurrency::*, *};

    fn ids(schedule: &mut Schedule) -> Vec<String> {
        schedule.start().into_iter().map(|id| id.0).collect()
    }

    #[test]
    fn safe_calls_run_together_and_others_wait_their_turn() {
        let mut schedule = Schedule::default();
        for (id, concurrency) in [("a", Safe), ("b", Safe), ("c", Exclusive), ("d", Safe)] {
            schedule.add(id.into(), concurrency);
        }
        assert_eq!(ids(&mut schedule), ["a", "b"]);
        schedule.end(&"a".into());
        assert_eq!(ids(&mut schedule), [""; 0]);
        schedule.end(&"b".into());
        assert_eq!(ids(&mut schedule), ["c"]);
        schedule.end(&"c".into());
        assert_eq!(ids(&mut schedule), ["d"]);
    }

    #[test]
    fn call_cancelled_before_it_ran_blocks_no_other() {
        let mut schedule = Schedule::default();
        for (id, concurrency) in [("a", Exclusive), ("b", Exclusive), ("c", Exclusive)] {
            schedule.add(id.into(), concurrency);
        }
        assert_eq!(ids(&mut schedule), ["a"]);
        schedule.end(&"b".into());
        schedule.end(&"a".into());
        assert_eq!(ids(&mut schedule), ["c"]);
    }

    #[test]
    fn concurrency_is_bounded() {
        let mut schedule = Schedule::default();
        for n in 0..MAX_PARALLEL + 5 {
            schedule.add(ToolUseId(n.to_string()), Safe);
        }
        assert_eq!(ids(&mut schedule).len(), MAX_PARALLEL);
    }
}
