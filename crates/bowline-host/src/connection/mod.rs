//! Connection to an agent that has responded to `initialize`, wherever the agent runs.

mod requirements;

use std::{
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use bowline_protocol::{
    Call, HostRequest, Initialize, InitializeResponse, McpServerMessage, Message, MessageUuid,
    SystemMessage, UserMessage,
};
use futures_util::FutureExt;
use parking_lot::{Mutex, MutexGuard};
use tokio::{sync::mpsc, task::coop};
use tokio_util::task::AbortOnDropHandle;

use self::requirements::Requirements;
#[cfg(feature = "sessions")]
use crate::store::StoreLink;
use crate::{
    conversation::ConversationWatch,
    error::Error,
    options::{AgentOrigin, Limits, Options, opening},
    process::ConnectProcess,
    prompt::Prompt,
    responder::Responder,
    run::{Audience, Run},
    status::Tracker,
    transport::Transport,
};

/// A connection whose agent has responded to `initialize`.
pub(crate) struct Connection {
    transport: Arc<dyn Transport>,
    pub(crate) responder: Arc<Responder>,
    /// Forwards the notifications of our MCP servers.
    _notifications: AbortOnDropHandle<()>,
    run: Mutex<Run>,
    /// The conversation, since it was first requested.
    conversation: OnceLock<ConversationWatch>,
    verbatim_prompts: bool,
    pub(crate) limits: Limits,
    pub(crate) has_callbacks: bool,
    /// The `initialize` that was sent, for clients that change a part of it.
    pub(crate) opening: Initialize,
    pub(crate) initialized: InitializeResponse,
}

/// A message of an agent.
pub(crate) enum Received {
    /// For the program.
    Message(Message),
    /// For this crate alone: the run may be over.
    Internal,
}

impl Connection {
    /// Starts the agent and sends `initialize` to it.
    ///
    /// `tracker` is notified of the agent's pending requests.
    pub(crate) async fn open(
        mut options: Options,
        tracker: Option<Arc<Tracker>>,
    ) -> Result<Self, Error> {
        options.check()?;
        if let Some(calls) = options.calls_bypassing_callback() {
            tracing::warn!("`can_use_tool` is not called for {calls}");
        }
        if let Some(names) = options.without_effect() {
            tracing::warn!(
                "an agent that connects by itself has these options only if it was started with them \
                 (`remote_arguments`, `remote_variables`): {names}"
            );
        }
        #[cfg(feature = "sessions")]
        let store = StoreLink::prepare(&mut options).await?;
        let has_callbacks = options.has_callbacks();
        let (opening, hooks) = opening::opening(&options);
        let (responder, notifications) = opening::responder(&mut options, hooks, tracker);
        let responder = Arc::new(responder);
        let connect = options.transport.take().unwrap_or_else(|| Arc::new(ConnectProcess));
        let transport = connect.open(&mut options, &opening, responder.clone()).await?;
        let forward = forward(notifications, Arc::downgrade(&transport), options.limits.request);
        let requirements = Requirements { connect: &*connect, options: &options };
        let initialized = match transport.call(opening.clone(), options.limits.initialize).await {
            Ok(initialized) => initialized,
            Err(error) => return Err(requirements.too_old().await.unwrap_or(error)),
        };
        if connect.origin() != AgentOrigin::InProcess {
            requirements.check(&initialized).await?;
        }
        #[cfg(feature = "sessions")]
        let transport = store.attach(transport);
        Ok(Self {
            transport,
            responder,
            _notifications: AbortOnDropHandle::new(tokio::spawn(forward)),
            run: Mutex::default(),
            conversation: OnceLock::new(),
            verbatim_prompts: options.messages.verbatim_prompts,
            limits: options.limits,
            has_callbacks,
            opening,
            initialized,
        })
    }

    /// Sends a control request and waits for its response.
    pub(crate) async fn request<C: Call<Request = HostRequest>>(
        &self,
        call: C,
    ) -> Result<C::Response, Error> {
        self.transport.call(call, self.limits.request).await
    }

    pub(crate) async fn prompt(&self, mut prompt: UserMessage) -> Result<(), Error> {
        if self.verbatim_prompts {
            prompt.client_composed = Some(true);
        }
        if let Some(conversation) = self.conversation.get() {
            // An agent that replays the prompt does so under this id.
            let id = || MessageUuid::from(uuid::Uuid::new_v4().to_string());
            prompt.uuid.get_or_insert_with(id);
            conversation.say(Prompt::from(prompt.clone()));
        }
        self.run().prompted();
        self.transport.prompt(prompt).await
    }

    /// The next message; `None` once the agent has ended in order. An end out of order is an error.
    ///
    /// Cancel safety: no message is lost when the future is dropped.
    pub(crate) async fn next(&self) -> Option<Result<Received, Error>> {
        // A reader with a long backlog yields to other tasks.
        coop::consume_budget().await;
        let next = match self.transport.try_next() {
            Some(message) => Some(message),
            None => self.transport.next().await,
        };
        match next {
            Some(message) => Some(message.map(|message| self.received(message))),
            None => self.transport.end_error(&self.run).await.map(Err),
        }
    }

    fn received(&self, message: Message) -> Received {
        if let Message::System(SystemMessage::Init(init)) = &message {
            self.responder.session.is(init.session_id.clone());
        }
        let audience = self.run().receive(&message);
        self.finish_when_done();
        match audience {
            Audience::Program => {
                if let Some(conversation) = self.conversation.get() {
                    conversation.receive(&message);
                }
                Received::Message(message)
            }
            Audience::Ourselves => Received::Internal,
        }
    }

    /// The conversation from the first call of this on.
    pub(crate) fn conversation(&self) -> ConversationWatch {
        self.conversation.get_or_init(ConversationWatch::default).clone()
    }

    /// Closes a link that cannot be closed in one direction, once neither side has more to send.
    fn finish_when_done(&self) {
        if !self.run().is_owed() {
            self.transport.work_done();
        }
    }

    /// Announces that no more prompts follow.
    pub(crate) async fn end_input(&self) {
        self.transport.end_input().await;
        self.finish_when_done();
    }

    pub(crate) async fn close(&self) {
        self.transport.close().await;
    }

    /// Whether the agent has exited.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone().now_or_never().is_some()
    }

    /// Waits until the agent has exited.
    pub(crate) async fn gone(&self) {
        self.transport.gone().await;
    }

    pub(crate) fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock()
    }
}

/// Sends the notifications of our MCP servers to the agent, one after another.
async fn forward(
    mut notifications: mpsc::Receiver<McpServerMessage>,
    transport: Weak<dyn Transport>,
    limit: Duration,
) {
    while let Some(message) = notifications.recv().await {
        let Some(transport) = transport.upgrade() else { return };
        if let Err(error) = transport.call(message, limit).await {
            tracing::debug!(%error, "the agent refused a message of an MCP server");
        }
    }
}
