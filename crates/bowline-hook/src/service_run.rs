//! One run of a hook that lives on a server, and the messages about its start and its end.

use std::{sync::Arc, time::Duration};

use bowline_protocol::{HookOutcome, HookResponseMessage};

use super::{
    BoxFuture, HookActivity, HookCallError, command,
    output::Answer,
    run::{Occasion, fresh_id, within},
};

/// Whether the end of a run is told as programs tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExitCodes {
    Yes,
    No,
}

/// A hook on a server that has been asked.
pub(super) struct ServiceRun<'a> {
    occasion: &'a Arc<Occasion>,
    hook_id: String,
}

impl<'a> ServiceRun<'a> {
    /// Says that one begins.
    pub(super) fn start(occasion: &'a Arc<Occasion>) -> Self {
        let run = Self { occasion, hook_id: fresh_id() };
        occasion.tell_started(&run.hook_id);
        run
    }

    /// Waits for its answer and says how it ended.
    pub(super) async fn serve(
        self,
        limit: Duration,
        call: BoxFuture<'_, Result<String, HookCallError>>,
        codes: ExitCodes,
    ) -> Answer {
        let mut body = String::new();
        let answer = within(limit, call, |text| {
            body = text;
            command::printed(&self.occasion.event, body.trim())
        });
        let answer = answer.await;
        let code = |code| (codes == ExitCodes::Yes).then_some(code);
        match &answer {
            Answer::Failed(_, error) => {
                self.observe_end(body, error.clone(), code(1), HookOutcome::Error);
            }
            _ => self.observe_end(body, String::new(), code(0), HookOutcome::Success),
        }
        answer
    }

    fn observe_end(
        &self,
        stdout: String,
        stderr: String,
        exit_code: Option<i32>,
        outcome: HookOutcome,
    ) {
        self.occasion.observer.observe(HookActivity::Response(HookResponseMessage {
            hook_id: self.hook_id.clone(),
            hook_name: self.occasion.hook_name.clone(),
            hook_event: self.occasion.event.clone(),
            output: format!("{stdout}{stderr}"),
            stdout,
            stderr,
            exit_code,
            outcome,
            uuid: fresh_id().into(),
            session_id: self.occasion.input.base.session_id.clone(),
            extra: Default::default(),
        }));
    }
}
