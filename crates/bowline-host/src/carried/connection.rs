//! Transport of an agent over streams that the program supplies.

use std::{
    fmt,
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline_peer::{Link, SessionFuture, connect_with};
use bowline_protocol::{HostRequest, Initialize, Message, RawJson, UserMessage};
use futures_util::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use tokio::{sync::watch, time};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{Carrier, Streams};
use crate::{
    error::Error,
    options::{AgentOrigin, AgentSetup, Connect, Options},
    responder::Responder,
    run::Run,
    transport::Transport,
    wire::{HostService, Lines},
};

/// Reaches agents by a carrier of the program.
pub(super) struct ConnectCarried<C>(pub(super) C);

impl<C> fmt::Debug for ConnectCarried<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Carried")
    }
}

impl<C: Carrier> Connect for ConnectCarried<C> {
    fn open<'a>(
        &'a self,
        options: &'a mut Options,
        _opening: &'a Initialize,
        responder: Arc<Responder>,
    ) -> BoxFuture<'a, Result<Arc<dyn Transport>, Error>> {
        Box::pin(async move {
            let connection = CarriedConnection::open(&self.0, options, responder).await?;
            Ok(Arc::new(connection) as Arc<dyn Transport>)
        })
    }

    fn origin(&self) -> AgentOrigin {
        AgentOrigin::StartedElsewhere
    }
}

/// An agent at the other end of streams.
struct CarriedConnection {
    lines: Lines,
    /// Our direction of the link is closed.
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
    /// The agent has closed its output.
    InOrder,
    /// The streams have failed.
    Failed(Arc<str>),
}

impl CarriedConnection {
    /// Reaches the agent.
    async fn open(
        carrier: &impl Carrier,
        options: &Options,
        responder: Arc<Responder>,
    ) -> Result<Self, Error> {
        let setup = options.agent_setup()?;
        let Streams { reader, writer } = reach(carrier, setup, options.limits.initialize).await?;
        let mut limits = bowline_peer::Options::default();
        limits.line_limit = options.limits.line;
        limits.time_limit = Some(options.limits.request);
        let (service, faults) = HostService::new(responder);
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

    /// The error that the agent's end amounts to. `owed` is whether a result was due.
    async fn bad_end(&self, owed: bool) -> Option<Error> {
        let what = match self.end().await {
            _ if self.closing.is_cancelled() => return None,
            Some(End::Failed(what)) => what.to_string(),
            Some(End::InOrder) | None if owed => "the agent left before it had a result".to_owned(),
            Some(End::InOrder) | None => return None,
        };
        Some(Error::Connection { what, source: None })
    }

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
        // It may have stopped reading while it still runs.
        match time::timeout(self.limit, self.bad_end(true)).await {
            Ok(error) => error.unwrap_or(Error::Closed),
            Err(_) => {
                let what = "the agent no longer reads its input".to_owned();
                Error::Connection { what, source: None }
            }
        }
    }
}

impl Transport for CarriedConnection {
    fn request(
        &self,
        request: HostRequest,
        subtype: &'static str,
        limit: Duration,
    ) -> BoxFuture<'_, Result<Option<RawJson>, Error>> {
        Box::pin(self.lines.request(request, subtype, limit, self.why_closed()))
    }

    fn prompt(&self, prompt: UserMessage) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.lines.prompt(prompt, self.why_closed()))
    }

    fn try_next(&self) -> Option<Result<Message, Error>> {
        self.lines.try_next()
    }

    fn next(&self) -> BoxFuture<'_, Option<Result<Message, Error>>> {
        Box::pin(self.lines.next())
    }

    fn end_input(&self) -> BoxFuture<'_, ()> {
        self.input_ended.store(true, Ordering::Release);
        self.lines.end_output();
        Box::pin(ready(()))
    }

    /// Lets the agent finish for a while, then drops the streams.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.closing.cancel();
            self.lines.end_output();
            if time::timeout(self.limit, self.end()).await.is_err() {
                self.given_up.cancel();
                self.end().await;
            }
        })
    }

    fn gone(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.end().map(drop))
    }

    fn end_error<'a>(&'a self, run: &'a Mutex<Run>) -> BoxFuture<'a, Option<Error>> {
        let owed = run.lock().is_owed();
        Box::pin(self.bad_end(owed))
    }
}

async fn reach(
    carrier: &impl Carrier,
    setup: AgentSetup,
    limit: Duration,
) -> Result<Streams, Error> {
    match time::timeout(limit, carrier.reach(setup)).await {
        Ok(Ok(streams)) => Ok(streams),
        Ok(Err(error)) => Err(Error::Connection {
            what: "the carrier cannot reach the agent".to_owned(),
            source: Some(error.into()),
        }),
        Err(_) => Err(Error::Connection {
            what: format!("the carrier has not reached the agent within {limit:?}"),
            source: None,
        }),
    }
}

/// Drives the link to its end and publishes how it ended.
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
