//! Session store of one connection: resumes from it, and mirrors the agent's transcript into it.

use std::{sync::Arc, time::Duration};

use bowline_protocol::{HostRequest, Message, RawJson, UserMessage};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use super::{
    mirror::Mirror,
    resume::{ResumedHome, from_store},
};
use crate::{error::Error, options::Options, run::Run, transport::Transport};

/// The session store of one connection, if its options name one.
pub(crate) struct StoreLink {
    mirror: Option<Mirror>,
    resumed: Option<ResumedHome>,
}

impl StoreLink {
    /// Brings the session that is to be resumed out of the store, and points the options at it.
    pub(crate) async fn prepare(options: &mut Options) -> Result<Self, Error> {
        let resumed = from_store(options).await?;
        let store = options.session.session_store.clone();
        let mirror = store.map(|store| Mirror::new(store, options.session.session_store_flush));
        Ok(Self { mirror, resumed })
    }

    /// The same agent, with its transcript mirrored.
    pub(crate) fn attach(self, agent: Arc<dyn Transport>) -> Arc<dyn Transport> {
        match self.mirror {
            Some(mirror) => Arc::new(MirroredTransport { agent, mirror, _resumed: self.resumed }),
            None => agent,
        }
    }
}

/// An agent whose transcript is copied into a store.
struct MirroredTransport {
    agent: Arc<dyn Transport>,
    mirror: Mirror,
    /// Deleted after the agent.
    _resumed: Option<ResumedHome>,
}

impl Transport for MirroredTransport {
    fn request(
        &self,
        request: HostRequest,
        subtype: &'static str,
        limit: Duration,
    ) -> BoxFuture<'_, Result<Option<RawJson>, Error>> {
        self.agent.request(request, subtype, limit)
    }

    fn prompt(&self, prompt: UserMessage) -> BoxFuture<'_, Result<(), Error>> {
        self.agent.prompt(prompt)
    }

    /// Every message may have to wait for the store.
    fn try_next(&self) -> Option<Result<Message, Error>> {
        None
    }

    fn next(&self) -> BoxFuture<'_, Option<Result<Message, Error>>> {
        Box::pin(async move {
            loop {
                if let Some(held) = self.mirror.ready().await {
                    return Some(held);
                }
                match self.agent.next().await {
                    Some(Ok(message)) => {
                        if let Some(message) = self.mirror.pass(message) {
                            return Some(Ok(message));
                        }
                    }
                    Some(Err(error)) => return Some(Err(error)),
                    None => {
                        self.mirror.settle().await;
                        return self.mirror.ready().await;
                    }
                }
            }
        })
    }

    fn end_input(&self) -> BoxFuture<'_, ()> {
        self.agent.end_input()
    }

    fn work_done(&self) {
        self.agent.work_done();
    }

    /// Reads on after the agent has ended, because it reports the end of its transcript last.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.agent.close().await;
            while let Some(message) = self.agent.next().await {
                self.mirror.keep(message);
            }
            self.mirror.settle().await;
        })
    }

    fn gone(&self) -> BoxFuture<'_, ()> {
        self.agent.gone()
    }

    fn end_error<'a>(&'a self, run: &'a Mutex<Run>) -> BoxFuture<'a, Option<Error>> {
        self.agent.end_error(run)
    }
}
