//! Transport of an agent in its own process.

use std::{future::ready, path::PathBuf, sync::Arc, time::Duration};

use bowline_peer::{Link, connect_with};
use bowline_process::ProcessGroup;
use bowline_protocol::{HostRequest, Initialize, Message, RawJson, UserMessage};
use futures_util::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use tokio::time;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    life::{Ended, Life},
    start::{program, start},
    stderr::{self, Tail},
    stdout::Stdout,
    version::installed_version,
};
use crate::{
    error::{Error, ProcessError},
    options::{
        AgentOrigin, Connect, Options,
        argument_files::{ArgumentFiles, into_files},
    },
    responder::Responder,
    run::Run,
    transport::Transport,
    wire::{HostService, Lines},
};

/// Starts the agent's program and speaks to it over its pipes.
#[derive(Debug)]
pub(crate) struct ConnectProcess;

impl Connect for ConnectProcess {
    fn open<'a>(
        &'a self,
        options: &'a mut Options,
        opening: &'a Initialize,
        responder: Arc<Responder>,
    ) -> BoxFuture<'a, Result<Arc<dyn Transport>, Error>> {
        Box::pin(async move {
            let files = match options.process.spawner {
                None => into_files(options)?,
                // A spawner may start the process where these files are not.
                Some(_) => None,
            };
            let process = ProcessConnection::open(options, opening, responder, files).await?;
            Ok(Arc::new(process) as Arc<dyn Transport>)
        })
    }

    fn origin(&self) -> AgentOrigin {
        AgentOrigin::Process
    }

    fn program(&self, options: &Options) -> Option<PathBuf> {
        program(options).ok()
    }

    fn installed_version<'a>(&'a self, options: &'a Options) -> BoxFuture<'a, Option<String>> {
        Box::pin(installed_version(options))
    }
}

/// An agent in its own process.
struct ProcessConnection {
    lines: Lines,
    closing: CancellationToken,
    /// Fires when our end of its stdin is closed.
    input_ended: CancellationToken,
    /// Time that a process whose pipes have ended has to exit.
    patience: Duration,
    ended: Ended,
    /// The end of what it has written to its stderr.
    tail: Tail,
    /// Dropping it kills the process.
    _life: AbortOnDropHandle<()>,
    /// Deleted after the process.
    _argument_files: Option<ArgumentFiles>,
}

impl ProcessConnection {
    /// Starts the process; `opening` will be sent to it first.
    async fn open(
        options: &Options,
        opening: &Initialize,
        responder: Arc<Responder>,
        argument_files: Option<ArgumentFiles>,
    ) -> Result<Self, Error> {
        let mut child = start(options, opening).await?;
        let group = ProcessGroup::of_agent(&child)
            .map_err(|error| Error::connection("watching the agent's process", error))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            let what = "the process has no pipes".to_owned();
            return Err(Error::Connection { what, source: None });
        };
        let tail = Tail::default();
        let stderr = stderr::read(stderr, tail.clone(), options.process.stderr.clone());
        let stderr = AbortOnDropHandle::new(tokio::spawn(stderr));

        let mut limits = bowline_peer::Options::default();
        limits.line_limit = options.limits.line;
        limits.time_limit = Some(options.limits.request);
        let (service, faults) = HostService::new(responder);
        let link = Link::stream(Stdout::new(stdout), stdin);
        let (peer, inbox, wire) = connect_with(link, |_| service, limits);

        let closing = CancellationToken::new();
        let life = Life {
            child,
            group,
            peer: peer.clone(),
            wire,
            stderr,
            tail: tail.clone(),
            closing: closing.clone(),
            limit: options.limits.close,
        };
        let (life, ended) = life.begin();
        Ok(Self {
            lines: Lines::new(peer, inbox, faults),
            closing,
            input_ended: CancellationToken::new(),
            patience: options.limits.close * 3,
            ended,
            tail,
            _life: life,
            _argument_files: argument_files,
        })
    }

    /// How the process ended, once it has.
    async fn end(&self) -> Option<Arc<ProcessError>> {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await.ok()?;
        end.clone()
    }

    /// Whether we ended it ourselves.
    fn is_closed(&self) -> bool {
        self.closing.is_cancelled()
    }

    /// The error of a request on a closed link.
    async fn why_closed(&self) -> Error {
        if self.is_closed() || self.input_ended.is_cancelled() {
            return Error::Closed;
        }
        match time::timeout(self.patience, self.end()).await {
            Ok(Some(end)) => Error::Process((*end).clone()),
            Ok(None) => Error::Closed,
            Err(_) => {
                let what = "the agent's process lives, but no longer reads its stdin".to_owned();
                Error::Connection { what, source: None }
            }
        }
    }
}

impl Transport for ProcessConnection {
    fn request(
        &self,
        request: HostRequest,
        subtype: &'static str,
        limit: Duration,
    ) -> BoxFuture<'_, Result<Option<RawJson>, Error>> {
        Box::pin(async move {
            let response = self.lines.request(request, subtype, limit, self.why_closed()).await;
            response.map_err(|error| match error {
                // The process may have reported only on stderr why it is stuck.
                Error::Timeout { subtype, limit, .. } => {
                    Error::Timeout { subtype, limit, stderr: self.tail.text() }
                }
                error => error,
            })
        })
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
        self.input_ended.cancel();
        self.lines.end_output();
        Box::pin(ready(()))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.closing.cancel();
        self.gone()
    }

    fn gone(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.end().map(drop))
    }

    fn end_error<'a>(&'a self, run: &'a Mutex<Run>) -> BoxFuture<'a, Option<Error>> {
        Box::pin(async move {
            let end = self.end().await?;
            let in_order = self.is_closed() || run.lock().may_end_with(end.code);
            (!in_order).then(|| Error::Process((*end).clone()))
        })
    }
}
