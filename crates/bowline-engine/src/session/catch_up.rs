//! What was changed from outside reaches the main agent: at the start of a turn, and with every request.

use std::sync::Arc;

use bowline_protocol::{EventInput, HookEvent};
use tokio_util::sync::CancellationToken;

use super::start::main_tools;
use crate::{agent::Agent, identity::Identity};

impl Agent {
    /// Takes over, before a turn, what has changed since the last.
    pub(crate) async fn catch_up(&mut self, cancel: &CancellationToken) {
        let session = Arc::clone(&self.session);
        // A hook that takes its time about a change holds up nobody who has changed their mind.
        tokio::select! {
            () = session.heed_settings_files() => {}
            () = cancel.cancelled() => {}
        }
        if std::mem::take(&mut session.live().tools_changed) {
            self.tools = main_tools(&session);
            session.set_main_tools(&self.tools);
        }
        let switch = session.live().unnoticed.model_switch.take();
        if let Some(switch) = switch.filter(|_| session.has_hooks(HookEvent::PostModelSwitch)) {
            let event = EventInput::PostModelSwitch(switch);
            let report = session.run_hooks(&Identity::Main, event, cancel).await;
            session.live().context.extend(report.model_texts());
        }
        session.await_servers(cancel).await;
    }

    /// Forgets, before a request, reasoning that the model now in use could not verify.
    pub(crate) fn forget_foreign_thinking(&mut self) {
        if self.identity.is_main()
            && std::mem::take(&mut self.session.live().unnoticed.foreign_thinking)
        {
            self.conversation.drop_thinking();
        }
    }
}
