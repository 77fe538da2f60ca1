//! One run of a hook on a server, and the messages about its start and end.

use std::{sync::Arc, time::Duration};

use bowline_protocol::{HookOutcome, HookResponseMessage};

use super::{
    BoxFuture, HookActivity, HookCallError, command,
    deadline::within,
    event_context::{EventContext, fresh_id},
    output::HookReply,
};

/// Whether the end of a run is reported with an exit code, as for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExitCodes {
    Yes,
    No,
}

/// A hook on a server that has been asked.
pub(super) struct ServiceRun<'a> {
    context: &'a Arc<EventContext>,
    hook_id: String,
}

impl<'a> ServiceRun<'a> {
    /// Reports the start.
    pub(super) fn start(context: &'a Arc<EventContext>) -> Self {
        let run = Self { context, hook_id: fresh_id() };
        context.observe_start(&run.hook_id);
        run
    }

    /// Waits for the reply and reports the end.
    pub(super) async fn serve(
        self,
        limit: Duration,
        call: BoxFuture<'_, Result<String, HookCallError>>,
        codes: ExitCodes,
    ) -> HookReply {
        let mut body = String::new();
        let reply = within(limit, call, |text| {
            body = text;
            command::printed(&self.context.event, body.trim())
        });
        let reply = reply.await;
        let code = |code| (codes == ExitCodes::Yes).then_some(code);
        match &reply {
            HookReply::Failed(_, error) => {
                self.observe_end(body, error.clone(), code(1), HookOutcome::Error);
            }
            _ => self.observe_end(body, String::new(), code(0), HookOutcome::Success),
        }
        reply
    }

    fn observe_end(
        &self,
        stdout: String,
        stderr: String,
        exit_code: Option<i32>,
        outcome: HookOutcome,
    ) {
        self.context.observer.observe(HookActivity::Response(HookResponseMessage {
            hook_id: self.hook_id.clone(),
            hook_name: self.context.hook_name.clone(),
            hook_event: self.context.event.clone(),
            output: format!("{stdout}{stderr}"),
            stdout,
            stderr,
            exit_code,
            outcome,
            uuid: fresh_id().into(),
            session_id: self.context.input.base.session_id.clone(),
            extra: Default::default(),
        }));
    }
}
