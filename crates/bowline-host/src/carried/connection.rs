//! The connection to an agent over streams of the program's own: ask, tell, hear, close.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline_peer::{Link, SessionFuture, connect_with};
use bowline_protocol::{Call, HostRequest, Message, UserMessage};
use tokio::{sync::watch, time};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{AgentSetup, SharedCarrier, Streams};
use crate::{
    Error, Options,
    callback::Callbacks,
    wire::{HostService, Lines},
};

/// An agent behind streams.
pub(crate) struct CarriedConnection {
    lines: Lines,
    /// We have said that nothing more follows.
    input_ended: AtomicBool,
    closing: CancellationToken,
    /// The agent has had its time to end.
    given_up: CancellationToken,
    ended: watch::Receiver<Option<End>>,
    limit: Duration,
    /// Dropping it drops the streams.
    _life: AbortOnDropHandle<()>,
}

/// How a session ended.
#[derive(Debug, Clone)]
enum End {
    /// The agent has said all.
    InOrder,
    /// The streams have failed.
    Failed(Arc<str>),
}

impl CarriedConnection {
    /// Reaches the agent.
    pub(crate) async fn open(
        carrier: &SharedCarrier,
        options: &Options,
        callbacks: Arc<Callbacks>,
    ) -> Result<Self, Error> {
        let setup = options.setup()?;
        let Streams { reader, writer } = reach(carrier, setup, options.limits.initialize).await?;
        let mut limits = bowline_peer::Options::default();
        limits.line_limit = options.limits.line;
        limits.time_limit = Some(options.limits.request);
        let (service, faults) = HostService::new(callbacks);
        let (peer, inbox, wire) = connect_with(Link::stream(reader, writer), |_| service, limits);
        let (given_up, (end, ended)) = (CancellationToken::new(), watch::channel(None));
        let life = tokio::spawn(live(wire, given_up.clone(), end));
        Ok(Self {
            lines: Lines::new(peer, inbox, faults),
            input_ended: AtomicBool::new(false),
            closing: CancellationToken::new(),
            given_up,
            ended,
            limit: options.limits.close,
            _life: AbortOnDropHandle::new(life),
        })
    }

    pub(crate) async fn ask<C>(&self, call: C, limit: Duration) -> Result<C::Response, Error>
    where
        C: Call<Request = HostRequest>,
    {
        self.lines.ask(call, limit, self.why_closed()).await
    }

    pub(crate) async fn prompt(&self, prompt: UserMessage) -> Result<(), Error> {
        self.lines.prompt(prompt, self.why_closed()).await
    }

    /// The next message; `None` when the agent has said all.
    pub(crate) async fn next(&self) -> Option<Result<Message, Error>> {
        self.lines.next().await
    }

    pub(crate) fn end_input(&self) {
        self.input_ended.store(true, Ordering::Release);
        self.lines.end_output();
    }

    /// Lets the agent finish for a while, then drops the streams.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        self.lines.end_output();
        if time::timeout(self.limit, self.end()).await.is_err() {
            self.given_up.cancel();
            self.end().await;
        }
    }

    /// The error that the end of the agent is, if it is one. `owed` says whether it should have
    /// said more.
    pub(crate) async fn bad_end(&self, owed: bool) -> Option<Error> {
        let what = match self.end().await {
            _ if self.closing.is_cancelled() => return None,
            Some(End::Failed(what)) => what.to_string(),
            Some(End::InOrder) | None if owed => "the agent left before it had a result".to_owned(),
            Some(End::InOrder) | None => return None,
        };
        Some(Error::Connection { what, source: None })
    }

    /// Waits until the session has ended.
    pub(crate) async fn over(&self) {
        self.end().await;
    }

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
        // It may have stopped listening only.
        match time::timeout(self.limit, self.bad_end(true)).await {
            Ok(error) => error.unwrap_or(Error::Closed),
            Err(_) => {
                let what = "the agent no longer listens".to_owned();
                Error::Connection { what, source: None }
            }
        }
    }
}

async fn reach(
    carrier: &SharedCarrier,
    setup: AgentSetup,
    limit: Duration,
) -> Result<Streams, Error> {
    match time::timeout(limit, carrier.0.reach(setup)).await {
        Ok(Ok(streams)) => Ok(streams),
        Ok(Err(error)) => Err(Error::Connection {
            what: "the carrier does not reach the agent".to_owned(),
            source: Some(error.into()),
        }),
        Err(_) => Err(Error::Connection {
            what: format!("the carrier has not reached the agent within {limit:?}"),
            source: None,
        }),
    }
}

/// Keeps the session going to its end, which it tells.
async fn live(wire: SessionFuture, given_up: CancellationToken, ended: watch::Sender<Option<End>>) {
    let end = tokio::select! {
        end = wire => match end {
            Ok(()) => End::InOrder,
            Err(error) => End::Failed(error.to_string().into()),
        },
        () = given_up.cancelled() => End::InOrder,
    };
    ended.send_replace(Some(end));
}
