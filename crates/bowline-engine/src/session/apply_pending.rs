//! Pending changes, applied by the main agent before a turn.

use std::sync::Arc;

use bowline_protocol::{EventInput, HookEvent};
use tokio_util::sync::CancellationToken;

use super::start::main_tools;
use crate::{agent::Agent, identity::Identity};

impl Agent {
    /// Applies, before a turn, the changes since the last one.
    pub(crate) async fn apply_pending(&mut self, cancel: &CancellationToken) {
        let session = Arc::clone(&self.session);
        // A slow hook of a settings change must not delay an interrupt.
        tokio::select! {
            () = session.watch.apply_settings_files() => {}
            () = cancel.cancelled() => {}
        }
        if session.pending.take_tools_changed() {
            self.tools = main_tools(&session);
            session.main_tools.set(&self.tools);
        }
        let switch = session.pending.take_model_switch();
        if let Some(switch) = switch.filter(|_| session.hooks.has(HookEvent::PostModelSwitch)) {
            let event = EventInput::PostModelSwitch(switch);
            let report = session.hooks.run(&Identity::Main, event, cancel).await;
            session.pending.add_context(report.model_texts());
        }
        session.servers.wait_ready(cancel).await;
    }
}
