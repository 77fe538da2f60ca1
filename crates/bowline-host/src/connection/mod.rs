//! The connection to an agent, wherever it runs.

mod accept;
mod agent;

use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    time::Duration,
};

use bowline_protocol::{
    Call, HostRequest, Initialize, InitializeResponse, McpServerMessage, Message, MessageUuid,
    SystemMessage, UserMessage,
};
use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use self::agent::Agent;
#[cfg(feature = "embedded")]
use crate::embedded::EmbeddedConnection;
#[cfg(feature = "sessions")]
use crate::store::{Mirror, ResumedHome, from_store};
#[cfg(feature = "websocket")]
use crate::websocket::{Summoned, WebSocketConnection};
use crate::{
    ConversationWatch, Error, Options, Prompt, Transport,
    callback::Callbacks,
    carried::CarriedConnection,
    options::{
        Limits,
        long::{LongValues, into_files},
        opening::opening,
    },
    process::ProcessConnection,
    run::{Audience, Run},
    session::Tracker,
};

/// A connection on which `initialize` was answered.
pub(crate) struct Connection {
    agent: Arc<Agent>,
    pub(crate) callbacks: Arc<Callbacks>,
    /// Passes on what our MCP servers say by themselves.
    _said: AbortOnDropHandle<()>,
    #[cfg(feature = "sessions")]
    mirror: Option<Mirror>,
    /// Deleted after the agent.
    #[cfg(feature = "sessions")]
    _resumed: Option<ResumedHome>,
    /// Deleted after the agent.
    _long_values: Option<LongValues>,
    run: Mutex<Run>,
    /// What was said since somebody asked for it.
    conversation: OnceLock<ConversationWatch>,
    verbatim_prompts: bool,
    pub(crate) limits: Limits,
    pub(crate) has_callbacks: bool,
    /// What we said first, for whoever wants to say it again.
    pub(crate) opening: Initialize,
    pub(crate) initialized: InitializeResponse,
}

/// What an agent said.
pub(crate) enum Heard {
    /// Something for the program.
    Message(Message),
    /// Something for us alone: the run may be over.
    News,
}

impl Connection {
    /// Starts the agent and introduces this program to it.
    ///
    /// `tracker` is told what the agent waits for.
    pub(crate) async fn open(
        mut options: Options,
        tracker: Option<Arc<Tracker>>,
    ) -> Result<Self, Error> {
        options.check()?;
        if let Some(what) = options.never_asked() {
            tracing::warn!("`can_use_tool` is not asked about {what}");
        }
        if let Some(names) = options.unheard() {
            tracing::warn!(
                "an agent that dials in has these options only if it was started with them \
                 (`remote_arguments`, `remote_variables`): {names}"
            );
        }
        #[cfg(feature = "sessions")]
        let resumed = from_store(&mut options).await?;
        #[cfg(feature = "sessions")]
        let mirror = options
            .session_store
            .clone()
            .map(|store| Mirror::new(store, options.session_store_flush));
        let has_callbacks = options.has_callbacks();
        let (opening, hooks) = opening(&options);
        let (callbacks, said) = Callbacks::new(&mut options, hooks, tracker);
        let callbacks = Arc::new(callbacks);
        let mut long_values = None;
        let agent = match std::mem::take(&mut options.transport) {
            Transport::Process => {
                if options.spawner.is_none() {
                    long_values = into_files(&mut options)?;
                }
                let agent = ProcessConnection::open(&options, &opening, callbacks.clone()).await?;
                Agent::Process(Box::new(agent))
            }
            Transport::Carried(carrier) => {
                let agent = CarriedConnection::open(&carrier, &options, callbacks.clone()).await?;
                Agent::Carried(Box::new(agent))
            }
            #[cfg(feature = "embedded")]
            Transport::Embedded(agent) => {
                let agent = EmbeddedConnection::open(&agent, &options, callbacks.clone())?;
                callbacks.session.is(agent.session_id());
                Agent::Embedded(Box::new(agent))
            }
            #[cfg(feature = "websocket")]
            Transport::WebSocket(agent) => {
                let first_words = opening.clone().into();
                let callbacks = callbacks.clone();
                let agent =
                    WebSocketConnection::open(&agent, None, &options, callbacks, first_words)?;
                Agent::WebSocket(Box::new(agent))
            }
            #[cfg(feature = "websocket")]
            Transport::OnDemand(agents) => {
                let Summoned { agent, running } = agents.start(&options)?;
                let (callbacks, first_words) = (callbacks.clone(), opening.clone().into());
                let running = Some(running);
                let agent =
                    WebSocketConnection::open(&agent, running, &options, callbacks, first_words)?;
                Agent::WebSocket(Box::new(agent))
            }
        };
        let agent = Arc::new(agent);
        let said = pass_on(said, Arc::downgrade(&agent), options.limits.request);
        let initialized = match agent.ask(opening.clone(), options.limits.initialize).await {
            Ok(initialized) => initialized,
            Err(error) => return Err(agent.too_old(&options).await.unwrap_or(error)),
        };
        if agent.is_separate() {
            agent.accept(&options, &initialized).await?;
        }
        Ok(Self {
            agent,
            callbacks,
            #[cfg(feature = "sessions")]
            mirror,
            #[cfg(feature = "sessions")]
            _resumed: resumed,
            _long_values: long_values,
            _said: AbortOnDropHandle::new(tokio::spawn(said)),
            run: Mutex::default(),
            conversation: OnceLock::new(),
            verbatim_prompts: options.verbatim_prompts,
            limits: options.limits,
            has_callbacks,
            opening,
            initialized,
        })
    }

    pub(crate) async fn ask<C: Call<Request = HostRequest>>(
        &self,
        call: C,
    ) -> Result<C::Response, Error> {
        self.agent.ask(call, self.limits.request).await
    }

    pub(crate) async fn prompt(&self, mut prompt: UserMessage) -> Result<(), Error> {
        if self.verbatim_prompts {
            prompt.client_composed = Some(true);
        }
        if let Some(conversation) = self.conversation.get() {
            // An agent that repeats it does so by this name.
            let name = || MessageUuid::from(uuid::Uuid::new_v4().to_string());
            prompt.uuid.get_or_insert_with(name);
            conversation.say(Prompt::from(prompt.clone()));
        }
        self.run().prompted();
        self.agent.prompt(prompt).await
    }

    /// What the agent says next; `None` once it has ended in order. An end out of order is an
    /// error.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(crate) async fn next(&self) -> Option<Result<Heard, Error>> {
        loop {
            if let Some(held) = self.held_back().await {
                return Some(held.map(|message| self.sorted(message)));
            }
            match self.agent.next().await {
                Some(Ok(message)) => {
                    if let Some(message) = self.mirrored(message) {
                        return Some(Ok(self.sorted(message)));
                    }
                }
                Some(Err(error)) => return Some(Err(error)),
                None => {
                    self.settle().await;
                    if let Some(held) = self.held_back().await {
                        return Some(held.map(|message| self.sorted(message)));
                    }
                    return self.bad_end().await.map(Err);
                }
            }
        }
    }

    fn sorted(&self, message: Message) -> Heard {
        let audience = self.heard(&message);
        self.hang_up_when_done();
        if let (Audience::Program, Some(conversation)) = (audience, self.conversation.get()) {
            conversation.hear(&message);
        }
        match audience {
            Audience::Program => Heard::Message(message),
            Audience::Ourselves => Heard::News,
        }
    }

    fn heard(&self, message: &Message) -> Audience {
        if let Message::System(SystemMessage::Init(init)) = message {
            self.callbacks.session.is(init.session_id.clone());
        }
        self.run().heard(message)
    }

    /// What is said from the first time on that somebody asks for it.
    pub(crate) fn conversation(&self) -> ConversationWatch {
        self.conversation.get_or_init(ConversationWatch::default).clone()
    }

    /// The error that the end of the agent is, if it is one.
    async fn bad_end(&self) -> Option<Error> {
        // Once it has ended, nothing changes any more that this is about.
        self.agent.bad_end(|| self.run()).await
    }

    /// Ends a session over a link that cannot be closed in one direction, once nothing more is
    /// to be said in either.
    fn hang_up_when_done(&self) {
        #[cfg(feature = "websocket")]
        if let Agent::WebSocket(agent) = &*self.agent
            && !self.run().is_owed()
        {
            agent.work_done();
        }
    }

    /// Says that no more prompts follow.
    pub(crate) async fn end_input(&self) {
        self.agent.end_input().await;
        self.hang_up_when_done();
    }

    pub(crate) async fn close(&self) {
        self.agent.close().await;
        self.mirror_the_rest().await;
    }

    /// Whether the agent is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone().now_or_never().is_some()
    }

    /// Waits until the agent is gone.
    pub(crate) async fn gone(&self) {
        self.agent.gone().await;
    }

    pub(crate) fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The copy of the transcript in a store.
#[cfg(feature = "sessions")]
impl Connection {
    /// What waited for the store, or is to be told about it.
    async fn held_back(&self) -> Option<Result<Message, Error>> {
        self.mirror.as_ref()?.ready().await
    }

    /// Takes out what is for the store, or has to wait for it.
    fn mirrored(&self, message: Message) -> Option<Message> {
        match &self.mirror {
            Some(mirror) => mirror.pass(message),
            None => Some(message),
        }
    }

    async fn settle(&self) {
        if let Some(mirror) = &self.mirror {
            mirror.settle().await;
        }
    }

    /// Reads on after the agent has ended, because it reports the end of its transcript last.
    async fn mirror_the_rest(&self) {
        let Some(mirror) = &self.mirror else { return };
        while let Some(said) = self.agent.next().await {
            mirror.keep(said);
        }
        mirror.settle().await;
    }
}

/// Without stores nothing waits for one.
#[cfg(not(feature = "sessions"))]
impl Connection {
    async fn held_back(&self) -> Option<Result<Message, Error>> {
        None
    }

    fn mirrored(&self, message: Message) -> Option<Message> {
        Some(message)
    }

    async fn settle(&self) {}

    async fn mirror_the_rest(&self) {}
}

/// Tells the agent what our MCP servers say by themselves, one after another.
async fn pass_on(mut said: mpsc::Receiver<McpServerMessage>, agent: Weak<Agent>, limit: Duration) {
    while let Some(message) = said.recv().await {
        let Some(agent) = agent.upgrade() else { return };
        if let Err(error) = agent.ask(message, limit).await {
            tracing::debug!(%error, "the agent did not take a message of an MCP server");
        }
    }
}
