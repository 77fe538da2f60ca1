//! Transport of an agent that connects over a WebSocket.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline_peer::connect_with;
use bowline_protocol::{HostRequest, Initialize, Message, MessageUuid, RawJson, UserMessage};
use futures_util::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use uuid::Uuid;

use super::{
    OnDemand, RemoteAgent,
    life::{End, Ended, Life},
    on_demand::{InvitedAgent, Running},
    remote_agent::ReservedLink,
};
use crate::{
    error::Error,
    options::{
        AgentOrigin, AgentTransport, Connect, Options,
        arguments::{arguments, variables},
    },
    responder::Responder,
    run::Run,
    transport::Transport,
    wire::{HostService, Lines},
};

impl Options {
    /// Uses an agent that connects by itself, at a [`Listener`](crate::Listener).
    ///
    /// It receives no flags and variables from this program; they are for the code that starts it:
    /// [`remote_arguments`](Self::remote_arguments), [`remote_variables`](Self::remote_variables). Options
    /// of this kind that are set are named in a warning (`tracing`) when the session begins.
    #[must_use]
    pub fn websocket(mut self, agent: RemoteAgent) -> Self {
        self.transport = AgentTransport::by(agent);
        self
    }

    /// Starts an agent for each session, which connects over a WebSocket.
    #[must_use]
    pub fn on_demand(mut self, agents: OnDemand) -> Self {
        self.transport = AgentTransport::by(agents);
        self
    }

    /// Flags with which an agent is to be started, so that it connects to `url` with these options.
    pub fn remote_arguments(&self, url: &str) -> Result<Vec<OsString>, Error> {
        let mut words = vec!["--sdk-url".into(), url.into()];
        words.extend(arguments(self)?);
        Ok(words)
    }

    /// Variables with which an agent is to be started; `None` removes one.
    pub fn remote_variables(&self) -> BTreeMap<String, Option<String>> {
        variables(self)
    }
}

impl Connect for RemoteAgent {
    fn open<'a>(
        &'a self,
        options: &'a mut Options,
        opening: &'a Initialize,
        responder: Arc<Responder>,
    ) -> BoxFuture<'a, Result<Arc<dyn Transport>, Error>> {
        let opened = WebSocketConnection::open(self, None, options, responder, opening.clone());
        Box::pin(ready(opened))
    }

    fn origin(&self) -> AgentOrigin {
        AgentOrigin::AlreadyStarted
    }
}

impl Connect for OnDemand {
    fn open<'a>(
        &'a self,
        options: &'a mut Options,
        opening: &'a Initialize,
        responder: Arc<Responder>,
    ) -> BoxFuture<'a, Result<Arc<dyn Transport>, Error>> {
        Box::pin(async move {
            let InvitedAgent { agent, running } = self.start(options)?;
            let (running, opening) = (Some(running), opening.clone());
            WebSocketConnection::open(&agent, running, options, responder, opening)
        })
    }

    fn origin(&self) -> AgentOrigin {
        AgentOrigin::StartedElsewhere
    }
}

/// An agent that connects over a WebSocket.
struct WebSocketConnection {
    lines: Lines,
    /// No more prompts follow.
    input_ended: AtomicBool,
    closing: CancellationToken,
    ended: Ended,
    /// Dropping it closes the connection.
    _life: AbortOnDropHandle<()>,
}

impl WebSocketConnection {
    /// Opens a session with an agent that has connected or will. `opening` is sent first, and `running` is
    /// the agent, if it was started on demand.
    fn open(
        agent: &RemoteAgent,
        running: Option<Running>,
        options: &Options,
        responder: Arc<Responder>,
        opening: Initialize,
    ) -> Result<Arc<dyn Transport>, Error> {
        let taken = || Error::Options(format!("the agent at {} has a session", agent.path()));
        let ReservedLink { reservation, resumable, link, connections, patience, keep_alive } =
            agent.take().ok_or_else(taken)?;
        let mut limits = bowline_peer::Options::default();
        limits.time_limit = Some(options.limits.request);
        let (service, faults) = HostService::new(responder);
        let (peer, inbox, wire) = connect_with(link, |_| service, limits);
        let closing = CancellationToken::new();
        let life = Life {
            reservation,
            resumable,
            connections,
            peer: peer.clone(),
            wire: AbortOnDropHandle::new(tokio::spawn(wire)),
            opening: opening.into(),
            patience,
            keep_alive,
            running,
            closing: closing.clone(),
            limit: options.limits.close,
        };
        let (life, ended) = life.begin();
        let lines = Lines::new(peer, inbox, faults);
        let input_ended = AtomicBool::new(false);
        Ok(Arc::new(Self { lines, input_ended, closing, ended, _life: life }))
    }

    /// The error that the agent's end amounts to. `owed` is whether a result was due.
    async fn bad_end(&self, owed: bool) -> Option<Error> {
        match self.end().await {
            _ if self.closing.is_cancelled() => None,
            Some(End::Gone(what)) => {
                Some(Error::Connection { what: what.to_string(), source: None })
            }
            // After its last result it may end as it likes: the result is complete.
            Some(End::Failed(error)) => owed.then_some(error),
            Some(End::InOrder) | None => owed.then(|| Error::Connection {
                what: "the agent hung up before it had a result".to_owned(),
                source: None,
            }),
        }
    }

    /// How the session ended, once it has.
    async fn end(&self) -> Option<End> {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await.ok()?;
        end.clone()
    }

    /// The error of a request on a closed link.
    async fn why_closed(&self) -> Error {
        if self.closing.is_cancelled() || self.input_ended.load(Ordering::Acquire) {
            return Error::Closed;
        }
        self.bad_end(true).await.unwrap_or(Error::Closed)
    }
}

impl Transport for WebSocketConnection {
    fn request(
        &self,
        request: HostRequest,
        subtype: &'static str,
        limit: Duration,
    ) -> BoxFuture<'_, Result<Option<RawJson>, Error>> {
        Box::pin(self.lines.request(request, subtype, limit, self.why_closed()))
    }

    fn prompt(&self, mut prompt: UserMessage) -> BoxFuture<'_, Result<(), Error>> {
        // An agent deduplicates by it if the prompt is sent again after a reconnect.
        prompt.uuid.get_or_insert_with(|| MessageUuid(Uuid::new_v4().to_string()));
        Box::pin(self.lines.prompt(prompt, self.why_closed()))
    }

    fn try_next(&self) -> Option<Result<Message, Error>> {
        self.lines.try_next()
    }

    fn next(&self) -> BoxFuture<'_, Option<Result<Message, Error>>> {
        Box::pin(self.lines.next())
    }

    /// Notes that no more prompts follow. A WebSocket cannot be closed in one direction, so the agent
    /// learns of it when its work is done: [`work_done`](Transport::work_done).
    fn end_input(&self) -> BoxFuture<'_, ()> {
        self.input_ended.store(true, Ordering::Release);
        Box::pin(ready(()))
    }

    fn work_done(&self) {
        if self.input_ended.load(Ordering::Acquire) {
            self.lines.end_output();
        }
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.closing.cancel();
        self.lines.end_output();
        self.gone()
    }

    fn gone(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.end().map(drop))
    }

    fn end_error<'a>(&'a self, run: &'a Mutex<Run>) -> BoxFuture<'a, Option<Error>> {
        let owed = run.lock().is_owed();
        Box::pin(self.bad_end(owed))
    }
}
