//! The connection to an agent elsewhere: ask, tell, hear, close.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline_peer::connect_with;
use bowline_protocol::{Call, HostRequest, Message, MessageUuid, UserMessage};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use uuid::Uuid;

use super::{
    RemoteAgent,
    agent::Place,
    life::{End, Ended, Life},
    on_demand::Running,
};
use crate::{
    Error, Options,
    callback::Callbacks,
    wire::{HostService, Lines},
};

/// An agent elsewhere.
pub(crate) struct WebSocketConnection {
    lines: Lines,
    /// We have said that nothing more follows.
    input_ended: AtomicBool,
    closing: CancellationToken,
    ended: Ended,
    /// Dropping it hangs up.
    _life: AbortOnDropHandle<()>,
}

impl WebSocketConnection {
    /// Begins to talk to an agent that is there or will be. `opening` are our first words, and
    /// `running` is the agent, if we had it started.
    pub(crate) fn open(
        agent: &RemoteAgent,
        running: Option<Running>,
        options: &Options,
        callbacks: Arc<Callbacks>,
        opening: HostRequest,
    ) -> Result<Self, Error> {
        let taken = || Error::Options(format!("the agent at {} has a session", agent.path()));
        let Place { ticket, tether, link, connections, patience, keep_alive } =
            agent.take().ok_or_else(taken)?;
        let mut limits = bowline_peer::Options::default();
        limits.time_limit = Some(options.limits.request);
        let (service, faults) = HostService::new(callbacks);
        let (peer, inbox, wire) = connect_with(link, |_| service, limits);
        let closing = CancellationToken::new();
        let life = Life {
            ticket,
            tether,
            connections,
            peer: peer.clone(),
            wire: AbortOnDropHandle::new(tokio::spawn(wire)),
            opening,
            patience,
            keep_alive,
            running,
            closing: closing.clone(),
            limit: options.limits.close,
        };
        let (life, ended) = life.begin();
        let lines = Lines::new(peer, inbox, faults);
        let input_ended = AtomicBool::new(false);
        Ok(Self { lines, input_ended, closing, ended, _life: life })
    }

    pub(crate) async fn ask<C>(&self, call: C, limit: Duration) -> Result<C::Response, Error>
    where
        C: Call<Request = HostRequest>,
    {
        self.lines.ask(call, limit, self.why_closed()).await
    }

    pub(crate) async fn prompt(&self, mut prompt: UserMessage) -> Result<(), Error> {
        // By its name an agent that hears it twice knows it.
        prompt.uuid.get_or_insert_with(|| MessageUuid(Uuid::new_v4().to_string()));
        self.lines.prompt(prompt, self.why_closed()).await
    }

    /// The next message; `None` when the agent has said all.
    pub(crate) async fn next(&self) -> Option<Result<Message, Error>> {
        self.lines.next().await
    }

    /// Says that no more prompts follow. A WebSocket cannot be closed in one direction, so the
    /// agent hears of it when its work is done: [`work_done`](Self::work_done).
    pub(crate) fn end_input(&self) {
        self.input_ended.store(true, Ordering::Release);
    }

    /// The agent will not say more by itself. Hangs up, if we have nothing more to say either.
    pub(crate) fn work_done(&self) {
        if self.input_ended.load(Ordering::Acquire) {
            self.lines.end_output();
        }
    }

    pub(crate) async fn close(&self) {
        self.closing.cancel();
        self.lines.end_output();
        self.end().await;
    }

    /// The error that the end of the agent is, if it is one. `owed` says whether it should have
    /// said more.
    pub(crate) async fn bad_end(&self, owed: bool) -> Option<Error> {
        match self.end().await {
            _ if self.closing.is_cancelled() => None,
            Some(End::Gone(what)) => {
                Some(Error::Connection { what: what.to_string(), source: None })
            }
            // After its last result it may end as it likes: the result has said all there is to say.
            Some(End::Failed(error)) => owed.then_some(error),
            Some(End::InOrder) | None => owed.then(|| Error::Connection {
                what: "the agent hung up before it had a result".to_owned(),
                source: None,
            }),
        }
    }

    /// Waits until the session has ended.
    pub(crate) async fn over(&self) {
        self.end().await;
    }

    /// How the session ended, once it has.
    async fn end(&self) -> Option<End> {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await.ok()?;
        end.clone()
    }

    /// Why nothing can be said any more.
    async fn why_closed(&self) -> Error {
        if self.closing.is_cancelled() || self.input_ended.load(Ordering::Acquire) {
            return Error::Closed;
        }
        self.bad_end(true).await.unwrap_or(Error::Closed)
    }
}
