//! Progress of a run: whether a result is owed, and whether the agent may send more on its own.
//!
//! Pure: messages go in, the state of the run comes out.

use std::collections::HashSet;

use bowline_protocol::{Message, SessionState, SystemMessage, TaskId, TaskStatus, TaskType};

/// What is known of a run.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// A prompt was sent and its result has not come.
    owed: bool,
    /// A result has come since the last prompt.
    has_result: bool,
    /// The last result was a failure.
    failed: bool,
    /// State that the agent reported, if any.
    state: Option<SessionState>,
    /// Work in the background that will make the agent speak again.
    background: HashSet<TaskId>,
}

/// Who a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// The program.
    Program,
    /// Us alone.
    Ourselves,
}

impl Run {
    pub(crate) fn prompted(&mut self) {
        self.owed = true;
        self.has_result = false;
    }

    pub(crate) fn receive(&mut self, message: &Message) -> Audience {
        match message {
            Message::Result(result) => {
                self.owed = result.queued_turn_count.is_some_and(|waiting| waiting > 0);
                self.has_result = true;
                self.failed = result.is_error;
            }
            Message::System(SystemMessage::SessionStateChanged(change)) => {
                self.state = Some(change.state.clone());
                if change.sdk_host_only == Some(true) {
                    return Audience::Ourselves;
                }
            }
            Message::System(SystemMessage::TaskStarted(task)) => {
                let speaks =
                    matches!(task.task_type, Some(TaskType::LocalAgent | TaskType::LocalWorkflow));
                if speaks {
                    self.background.insert(task.task_id.clone());
                }
            }
            Message::System(SystemMessage::TaskNotification(task)) => {
                self.background.remove(&task.task_id);
            }
            // For one that was stopped, this may be the last message.
            Message::System(SystemMessage::TaskUpdated(task))
                if task.patch.status == Some(TaskStatus::Killed) =>
            {
                self.background.remove(&task.task_id);
            }
            _ => {}
        }
        Audience::Program
    }

    /// Whether the agent will not speak again unless it is spoken to.
    pub(crate) fn is_over(&self) -> bool {
        let idle = self.state.as_ref().is_none_or(|state| *state == SessionState::Idle);
        self.has_result && idle && self.background.is_empty()
    }

    /// Whether the agent has a result to give, or work in the background that leads to one.
    pub(crate) fn is_owed(&self) -> bool {
        self.owed || (self.has_result && !self.is_over())
    }

    /// Whether there was a result for every prompt, and nothing more comes by itself.
    pub(crate) fn is_done(&self) -> bool {
        self.has_result && !self.is_owed()
    }

    /// Whether the agent has reported itself idle.
    pub(crate) fn is_idle(&self) -> bool {
        self.state == Some(SessionState::Idle)
    }

    /// Whether there was a result, even if more may follow it.
    pub(crate) fn has_result(&self) -> bool {
        self.has_result
    }

    /// Whether a process that ends now with this exit code ends in order.
    ///
    /// The official program exits with 1 after a result that is a failure; the result has
    /// described it already.
    pub(crate) fn may_end_with(&self, code: Option<i32>) -> bool {
        !self.owed && (code == Some(0) || (code == Some(1) && self.failed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn receive(run: &mut Run, message: Value) -> Audience {
        run.receive(&Message::parse(&message.to_string()).unwrap())
    }

    fn result(is_error: bool, queued: u64) -> Value {
        json!({
            "type": "result", "subtype": "success", "is_error": is_error, "duration_ms": 1,
            "duration_api_ms": 1, "num_turns": 1, "uuid": "u", "session_id": "s",
            "stop_reason": null, "queued_turn_count": queued,
        })
    }

    fn state(state: &str) -> Value {
        json!({
            "type": "system", "subtype": "session_state_changed", "state": state,
            "uuid": "u", "session_id": "s", "sdk_host_only": true,
        })
    }

    #[test]
    fn without_word_of_its_state_a_result_ends_the_run() {
        let mut run = Run::default();
        run.prompted();
        assert!(!run.is_over() && !run.may_end_with(Some(0)));
        receive(&mut run, result(false, 0));
        assert!(run.is_over() && run.may_end_with(Some(0)));
        assert!(!run.may_end_with(Some(1)) && !run.may_end_with(None));
    }

    #[test]
    fn an_agent_that_works_on_is_waited_for() {
        let mut run = Run::default();
        run.prompted();
        assert_eq!(receive(&mut run, state("running")), Audience::Ourselves);
        receive(&mut run, result(false, 0));
        assert!(!run.is_over() && run.has_result());
        receive(&mut run, state("idle"));
        assert!(run.is_over());
    }

    /// A run that has its result, and a subagent that works on.
    fn with_a_subagent() -> Run {
        let mut run = Run::default();
        run.prompted();
        let task = json!({
            "type": "system", "subtype": "task_started", "task_id": "t", "description": "d",
            "task_type": "local_agent", "uuid": "u", "session_id": "s",
        });
        receive(&mut run, task);
        receive(&mut run, result(false, 0));
        run
    }

    #[test]
    fn a_subagent_in_the_background_is_waited_for() {
        let mut run = with_a_subagent();
        assert!(!run.is_over());
        let done = json!({
            "type": "system", "subtype": "task_notification", "task_id": "t",
            "status": "completed", "output_file": "", "summary": "", "uuid": "u", "session_id": "s",
        });
        receive(&mut run, done);
        assert!(run.is_over());
    }

    #[test]
    fn a_subagent_that_was_stopped_is_not_waited_for() {
        let mut run = with_a_subagent();
        let update = |status: &str| {
            json!({
                "type": "system", "subtype": "task_updated", "task_id": "t",
                "patch": {"status": status}, "uuid": "u", "session_id": "s",
            })
        };
        for status in ["paused", "completed"] {
            receive(&mut run, update(status));
            assert!(!run.is_over(), "{status}: a notification follows, and what it leads to");
        }
        receive(&mut run, update("killed"));
        assert!(run.is_over(), "no notification need follow");
    }

    #[test]
    fn a_failure_explains_exit_code_one_and_a_queue_owes_more() {
        let mut run = Run::default();
        run.prompted();
        receive(&mut run, result(true, 0));
        assert!(run.may_end_with(Some(1)) && !run.may_end_with(Some(3)));
        run.prompted();
        receive(&mut run, result(false, 1));
        assert!(!run.may_end_with(Some(0)));
    }
}
