//! The connection to an agent in this process: ask, tell, hear, close.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bowline_engine::Session;
use bowline_protocol::{Call, HostRequest, Message, SessionId, UserMessage};
use futures_util::FutureExt;
use tokio::{sync::watch, time};
use tokio_util::task::AbortOnDropHandle;

use super::{Embedded, apply::configure, host::EmbeddedHost, queue::Queue};
use crate::{
    Error, Options,
    callback::{Callbacks, panic_text},
};

/// An agent in this process.
pub(crate) struct EmbeddedConnection {
    session_id: SessionId,
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl EmbeddedConnection {
    pub(crate) fn open(
        agent: &Embedded,
        options: &Options,
        callbacks: Arc<Callbacks>,
    ) -> Result<Self, Error> {
        let config = configure(agent, options)?;
        let queue = Arc::new(Queue::default());
        let host = Arc::new(EmbeddedHost { callbacks, queue: queue.clone() });
        let (session, work) = Session::start(config, host).map_err(|error| Error::Connection {
            what: "starting the engine".to_owned(),
            source: Some(error.into()),
        })?;
        let session_id = session.id();
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
        Ok(Self { session_id, engine, queue, ended, limit, _life: life })
    }

    /// The session that it runs.
    pub(crate) fn session_id(&self) -> SessionId {
        self.session_id.clone()
    }

    pub(crate) async fn ask<C>(&self, call: C, limit: Duration) -> Result<C::Response, Error>
    where
        C: Call<Request = HostRequest>,
    {
        let session = self.engine.session().ok_or(Error::Closed)?;
        let _questioning = self.queue.questioning();
        let subtype = C::SUBTYPE;
        let reply = time::timeout(limit, session.control(call.into()))
            .await
            .map_err(|_| Error::Timeout { subtype, limit, stderr: Arc::default() })?;
        let answer = match &reply.result {
            Ok(answer) => C::read_response(answer.as_ref()).map_err(|error| Error::Control {
                subtype,
                message: error.to_string(),
                code: None,
            }),
            Err(error) => Err(Error::Control {
                subtype,
                message: error.message.clone(),
                code: error.code.clone(),
            }),
        };
        reply.delivered().await;
        answer
    }

    pub(crate) async fn prompt(&self, prompt: UserMessage) -> Result<(), Error> {
        let session = self.engine.session().ok_or(Error::Closed)?;
        session.prompt(prompt).await;
        Ok(())
    }

    pub(crate) async fn next(&self) -> Option<Result<Message, Error>> {
        self.queue.next().await
    }

    pub(crate) async fn end_input(&self) {
        if let Some(session) = self.engine.session() {
            session.end_of_input().await;
        }
    }

    /// Lets the engine finish for a while, then stops it.
    pub(crate) async fn close(&self) {
        self.queue.close();
        if time::timeout(self.limit, self.end_input()).await.is_ok()
            && time::timeout(self.limit, self.over()).await.is_ok()
        {
            return;
        }
        if let Some(session) = self.engine.session() {
            session.shutdown();
        }
        time::timeout(self.limit, self.over()).await.ok();
    }

    /// Waits until the engine has ended.
    pub(crate) async fn over(&self) {
        self.ended.clone().wait_for(|ended| *ended).await.ok();
    }
}
