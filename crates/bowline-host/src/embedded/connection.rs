//! Transport of an agent in this process.

use std::{future::ready, panic::AssertUnwindSafe, path::Path, sync::Arc, time::Duration};

use bowline_engine::Session;
use bowline_protocol::{HostRequest, Initialize, Message, RawJson, UserMessage};
use futures_util::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use tokio::{sync::watch, time};
use tokio_util::task::AbortOnDropHandle;

use super::{Embedded, apply::configure, host::EmbeddedHost, queue::Queue};
use crate::{
    callback::panic_text,
    error::Error,
    options::{AgentOrigin, AgentTransport, Connect, Options, connect::AgentStorage},
    responder::Responder,
    run::Run,
    transport::Transport,
};

impl Options {
    /// Runs the agent in this process. No process is started, and no JSON is written in between.
    #[must_use]
    pub fn embedded(mut self, agent: Embedded) -> Self {
        self.transport = AgentTransport::by(agent);
        self
    }
}

impl Connect for Embedded {
    fn open<'a>(
        &'a self,
        options: &'a mut Options,
        _opening: &'a Initialize,
        responder: Arc<Responder>,
    ) -> BoxFuture<'a, Result<Arc<dyn Transport>, Error>> {
        let opened = EmbeddedConnection::open(self, options, responder);
        Box::pin(ready(opened.map(|connection| Arc::new(connection) as Arc<dyn Transport>)))
    }

    fn origin(&self) -> AgentOrigin {
        AgentOrigin::InProcess
    }

    fn storage(&self) -> Option<&dyn AgentStorage> {
        Some(self)
    }
}

impl AgentStorage for Embedded {
    fn cwd(&self) -> &Path {
        &self.cwd
    }

    fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    fn with_home(&self, home: &Path) -> AgentTransport {
        AgentTransport::by(self.clone().saved_in(home))
    }
}

/// An agent in this process.
struct EmbeddedConnection {
    engine: Engine,
    queue: Arc<Queue>,
    ended: watch::Receiver<bool>,
    /// How long it may take to end, and again to stop.
    limit: Duration,
    /// Dropping it stops the engine where it is.
    _life: AbortOnDropHandle<()>,
}

/// The engine's session while it runs. Nothing of it is kept beyond its end: with it goes the lock on
/// its transcript.
#[derive(Clone)]
struct Engine(Arc<Mutex<Option<Session>>>);

impl Engine {
    fn session(&self) -> Option<Session> {
        self.0.lock().clone()
    }

    fn forget(&self) {
        self.0.lock().take();
    }
}

impl EmbeddedConnection {
    fn open(agent: &Embedded, options: &Options, callbacks: Arc<Responder>) -> Result<Self, Error> {
        let config = configure(agent, options)?;
        let queue = Arc::new(Queue::default());
        let host = Arc::new(EmbeddedHost { callbacks: callbacks.clone(), queue: queue.clone() });
        let (session, work) = Session::start(config, host).map_err(|error| Error::Connection {
            what: "starting the engine".to_owned(),
            source: Some(error.into()),
        })?;
        callbacks.session.is(session.id());
        let engine = Engine(Arc::new(Mutex::new(Some(session))));
        let (tell_ended, ended) = watch::channel(false);
        let (messages, running) = (queue.clone(), engine.clone());
        let life = tokio::spawn(async move {
            let failed = match AssertUnwindSafe(work).catch_unwind().await {
                Ok(_) => None,
                Err(panic) => Some(Error::Connection {
                    what: format!("the engine panicked: {}", panic_text(&*panic)),
                    source: None,
                }),
            };
            running.forget();
            messages.end(failed);
            tell_ended.send_replace(true);
        });
        let limit = options.limits.close;
        let life = AbortOnDropHandle::new(life);
        Ok(Self { engine, queue, ended, limit, _life: life })
    }

    async fn ended(&self) {
        self.ended.clone().wait_for(|ended| *ended).await.ok();
    }
}

impl Transport for EmbeddedConnection {
    fn request(
        &self,
        request: HostRequest,
        subtype: &'static str,
        limit: Duration,
    ) -> BoxFuture<'_, Result<Option<RawJson>, Error>> {
        Box::pin(async move {
            let session = self.engine.session().ok_or(Error::Closed)?;
            let _requesting = self.queue.responding();
            let mut reply = time::timeout(limit, session.control(request))
                .await
                .map_err(|_| Error::Timeout { subtype, limit, stderr: Arc::default() })?;
            let response = std::mem::replace(&mut reply.result, Ok(None));
            reply.delivered().await;
            response.map_err(|error| Error::Control {
                subtype,
                message: error.message,
                code: error.code,
            })
        })
    }

    fn prompt(&self, prompt: UserMessage) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let session = self.engine.session().ok_or(Error::Closed)?;
            session.prompt(prompt).await;
            Ok(())
        })
    }

    fn try_next(&self) -> Option<Result<Message, Error>> {
        self.queue.try_next()
    }

    fn next(&self) -> BoxFuture<'_, Option<Result<Message, Error>>> {
        Box::pin(self.queue.next())
    }

    fn end_input(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(session) = self.engine.session() {
                session.end_of_input().await;
            }
        })
    }

    /// Lets the engine finish for a while, then stops it.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.queue.close();
            if time::timeout(self.limit, self.end_input()).await.is_ok()
                && time::timeout(self.limit, self.ended()).await.is_ok()
            {
                return;
            }
            if let Some(session) = self.engine.session() {
                session.shutdown();
            }
            time::timeout(self.limit, self.ended()).await.ok();
        })
    }

    fn gone(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.ended())
    }

    /// The last message of an engine that crashed is its error.
    fn end_error<'a>(&'a self, _run: &'a Mutex<Run>) -> BoxFuture<'a, Option<Error>> {
        Box::pin(ready(None))
    }
}
