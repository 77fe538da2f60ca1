//! The connection to an agent in a process: ask, tell, hear, close.

use std::{sync::Arc, time::Duration};

use bowline_peer::{Link, connect_with};
use bowline_protocol::{Call, HostRequest, Initialize, Message, UserMessage};
use tokio::time;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    group::Group,
    guardian::Guardian,
    life::{Ended, Life},
    start::start,
    stderr::{self, Tail},
    stdout::Stdout,
};
use crate::{
    Error, Options, ProcessError,
    callback::Callbacks,
    wire::{HostService, Lines},
};

/// An agent in a process of its own.
pub(crate) struct ProcessConnection {
    lines: Lines,
    closing: CancellationToken,
    /// Fires when we have said that nothing more follows.
    input_ended: CancellationToken,
    /// How long a process whose pipes have ended may take to be gone.
    patience: Duration,
    ended: Ended,
    /// The end of what it has written to its stderr.
    tail: Tail,
    /// Dropping it kills the process.
    _life: AbortOnDropHandle<()>,
}

impl ProcessConnection {
    /// Starts the process, which will hear `opening` first.
    pub(crate) async fn open(
        options: &Options,
        opening: &Initialize,
        callbacks: Arc<Callbacks>,
    ) -> Result<Self, Error> {
        let mut child = start(options, opening).await?;
        let group = Group::led_by(child.id());
        let guardian = Guardian::over(child.id());
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            let what = "the process has no pipes".to_owned();
            return Err(Error::Connection { what, source: None });
        };
        let tail = Tail::default();
        let stderr = stderr::read(stderr, tail.clone(), options.stderr.clone());
        let stderr = AbortOnDropHandle::new(tokio::spawn(stderr));

        let mut limits = bowline_peer::Options::default();
        limits.line_limit = options.limits.line;
        limits.time_limit = Some(options.limits.request);
        let (service, faults) = HostService::new(callbacks);
        let link = Link::stream(Stdout::new(stdout), stdin);
        let (peer, inbox, wire) = connect_with(link, |_| service, limits);

        let closing = CancellationToken::new();
        let life = Life {
            child,
            group,
            guardian,
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
        })
    }

    pub(crate) async fn ask<C>(&self, call: C, limit: Duration) -> Result<C::Response, Error>
    where
        C: Call<Request = HostRequest>,
    {
        let answer = self.lines.ask(call, limit, self.why_closed()).await;
        answer.map_err(|error| match error {
            // It may have said why it is stuck to people only.
            Error::Timeout { subtype, limit, .. } => {
                Error::Timeout { subtype, limit, stderr: self.tail.text() }
            }
            error => error,
        })
    }

    pub(crate) async fn prompt(&self, prompt: UserMessage) -> Result<(), Error> {
        self.lines.prompt(prompt, self.why_closed()).await
    }

    /// The next message; `None` when the agent has said all.
    pub(crate) async fn next(&self) -> Option<Result<Message, Error>> {
        self.lines.next().await
    }

    pub(crate) fn end_input(&self) {
        self.input_ended.cancel();
        self.lines.end_output();
    }

    /// Ends the process, one way or another.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        self.end().await;
    }

    /// How the process ended, once it has.
    pub(crate) async fn end(&self) -> Option<Arc<ProcessError>> {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await.ok()?;
        end.clone()
    }

    /// Waits until the process is gone.
    pub(crate) async fn over(&self) {
        self.end().await;
    }

    /// Whether we ended it ourselves.
    pub(crate) fn is_closed(&self) -> bool {
        self.closing.is_cancelled()
    }

    /// Why nothing can be said any more.
    async fn why_closed(&self) -> Error {
        if self.is_closed() || self.input_ended.is_cancelled() {
            return Error::Closed;
        }
        match time::timeout(self.patience, self.end()).await {
            Ok(Some(end)) => Error::Process((*end).clone()),
            Ok(None) => Error::Closed,
            Err(_) => {
                let what = "the agent's process lives, but no longer listens".to_owned();
                Error::Connection { what, source: None }
            }
        }
    }
}
