//! A session: prompts and control requests in, messages out, from its start to its end.

mod actor;
mod apply_pending;
mod claim;
mod control;
mod deferred;
mod direct;
mod opening;
mod prompt;
mod start;

use std::sync::Arc;

use bowline_protocol::{ControlRequest, HostRequest, SessionId, UserMessage};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use self::{
    actor::{Actor, Command},
    claim::ClaimRequests,
};
pub use self::{
    control::{ControlError, ControlReply},
    direct::{DirectCall, DirectResult},
    start::StartError,
};
use crate::{
    config::SessionConfig, host::Host, session_context::SessionContext, turn::call_slot::CallSlots,
};

/// How many prompts may be on their way to the session. Those that arrived wait in its own queue;
/// this only bounds a host that sends faster than they can be queued.
const COMMANDS: usize = 64;

/// A handle to a session. Cheap to clone; the session itself is the future that came with it.
#[derive(Clone)]
pub struct Session {
    context: Arc<SessionContext>,
    commands: mpsc::Sender<Command>,
    shutdown: CancellationToken,
    /// Requests that also apply to the session that the host will claim.
    claim: Arc<ClaimRequests>,
    /// Calls without a conversation run in these slots.
    direct_calls: CallSlots,
    began: Instant,
}

/// How a session ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionEnd {
    /// Whether the last turn failed; `None` if there was none.
    pub last_turn_failed: Option<bool>,
    /// The error that ended the session, if one did.
    pub fault: Option<String>,
}

impl Session {
    /// Sets a session up.
    ///
    /// It lives while the returned future is polled, and ends when input has ended and the work
    /// is done, or soon after [`shutdown`](Self::shutdown).
    pub fn start(
        config: SessionConfig,
        host: Arc<dyn Host>,
    ) -> Result<(Self, impl Future<Output = SessionEnd> + Send + 'static), StartError> {
        let (commands, received) = mpsc::channel(COMMANDS);
        let shutdown = CancellationToken::new();
        let (context, agent) = start::start(config, host)?;
        let session = Self {
            context: Arc::clone(&context),
            commands,
            shutdown: shutdown.clone(),
            claim: Arc::default(),
            direct_calls: CallSlots::default(),
            began: Instant::now(),
        };
        let actor = Actor::new(context, agent, received, shutdown);
        Ok((session, actor.run()))
    }

    /// The id of the session. `/clear` changes it.
    pub fn id(&self) -> SessionId {
        self.context.sink.session_id()
    }

    /// Queues a prompt. Does nothing once the session has ended.
    pub async fn prompt(&self, message: UserMessage) {
        self.commands.send(Command::Prompt(Box::new(message))).await.ok();
    }

    /// Waits until the prompts before this are queued. While the session still starts, none is.
    async fn prompts_queued(&self) {
        let (done, acknowledged) = oneshot::channel();
        if self.context.turn.started.is_cancelled()
            && self.commands.send(Command::Acknowledge(done)).await.is_ok()
        {
            acknowledged.await.ok();
        }
    }

    /// Drops the queued prompts.
    pub fn forget_waiting(&self) {
        self.context.queue.clear();
    }

    /// Responds to a control request of the host.
    ///
    /// The door sends the response and then calls [`ControlReply::delivered`], because some
    /// requests have consequences that the host must not see before their response.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request; what it has changed stays changed.
    pub async fn control(&self, request: HostRequest) -> ControlReply {
        let request_handle = control::RequestHandle { id: None, cancel: CancellationToken::new() };
        control::respond(self, request_handle, request).await
    }

    /// Responds to a request with an id, so that the host receives its progress.
    ///
    /// `cancel` fires when the host cancels it; a response is returned in any case.
    pub async fn control_request(
        &self,
        request: ControlRequest<HostRequest>,
        cancel: CancellationToken,
    ) -> ControlReply {
        let request_handle = control::RequestHandle { id: Some(request.request_id), cancel };
        control::respond(self, request_handle, request.request).await
    }

    /// The kinds of agents there are, by name.
    pub fn agents(&self) -> Vec<String> {
        self.context.kinds.names()
    }

    /// The first prompt of its main agent's kind. For a host that sends `initialize`, the
    /// session queues the prompt itself.
    pub fn initial_prompt(&self) -> Option<String> {
        opening::initial_prompt(&self.context)
    }

    /// The host has closed its input: the session finishes its work, then ends.
    pub async fn end_of_input(&self) {
        self.context.turn.end_input();
        self.commands.send(Command::EndOfInput).await.ok();
    }

    /// Stops the turn that runs, if one does.
    pub fn interrupt(&self) -> bool {
        self.context.turn.interrupt()
    }

    /// New variables for the processes the session starts from now on.
    pub fn update_environment(&self, variables: impl IntoIterator<Item = (String, String)>) {
        let variables = variables.into_iter().map(|(name, value)| (name, Some(value)));
        self.context.workspace.update_environment(variables);
    }

    /// Immediate shutdown: what runs is stopped, nothing is finished.
    pub fn shutdown(&self) {
        self.shutdown.cancel();
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.id()).finish_non_exhaustive()
    }
}
