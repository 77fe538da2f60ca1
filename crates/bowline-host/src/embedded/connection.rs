//! The connection to an agent in this process: ask, tell, hear, close.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

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
    session: Session,
    queue: Arc<Queue>,
    ended: watch::Receiver<bool>,
    /// How long it may take to end, and again to stop.
    limit: Duration,
    /// Dropping it stops the engine where it is.
    _life: AbortOnDropHandle<()>,
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
        let (tell_ended, ended) = watch::channel(false);
        let messages = queue.clone();
        let life = tokio::spawn(async move {
            let failed = match AssertUnwindSafe(work).catch_unwind().await {
                Ok(_) => None,
                Err(panic) => Some(Error::Connection {
                    what: format!("the engine panicked: {}", panic_text(&*panic)),
                    source: None,
                }),
            };
            messages.end(failed);
            tell_ended.send_replace(true);
        });
        let limit = options.limits.close;
        Ok(Self { session, queue, ended, limit, _life: AbortOnDropHandle::new(life) })
    }

    /// The session that it runs.
    pub(crate) fn session_id(&self) -> SessionId {
        self.session.id()
    }

    pub(crate) async fn ask<C>(&self, call: C, limit: Duration) -> Result<C::Response, Error>
    where
        C: Call<Request = HostRequest>,
    {
        if *self.ended.borrow() {
            return Err(Error::Closed);
        }
        let _questioning = self.queue.questioning();
        let subtype = C::SUBTYPE;
        let reply = time::timeout(limit, self.session.control(call.into()))
            .await
            .map_err(|_| Error::Timeout { subtype, limit })?;
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
        if *self.ended.borrow() {
            return Err(Error::Closed);
        }
        self.session.prompt(prompt).await;
        Ok(())
    }

    pub(crate) async fn next(&self) -> Option<Result<Message, Error>> {
        self.queue.next().await
    }

    pub(crate) async fn end_input(&self) {
        self.session.end_of_input().await;
    }

    /// Lets the engine finish for a while, then stops it.
    pub(crate) async fn close(&self) {
        self.queue.close();
        if time::timeout(self.limit, self.session.end_of_input()).await.is_ok()
            && time::timeout(self.limit, self.over()).await.is_ok()
        {
            return;
        }
        self.session.shutdown();
        time::timeout(self.limit, self.over()).await.ok();
    }

    /// Waits until the engine has ended.
    pub(crate) async fn over(&self) {
        self.ended.clone().wait_for(|ended| *ended).await.ok();
    }
}
