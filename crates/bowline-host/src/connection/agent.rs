//! An agent, wherever it runs, and what can be done with every one.

use std::{sync::MutexGuard, time::Duration};

use bowline_protocol::{Call, HostRequest, Message, UserMessage};

#[cfg(feature = "embedded")]
use crate::embedded::EmbeddedConnection;
#[cfg(feature = "websocket")]
use crate::websocket::WebSocketConnection;
use crate::{Error, carried::CarriedConnection, process::ProcessConnection, run::Run};

/// An agent, wherever it runs.
pub(super) enum Agent {
    Process(Box<ProcessConnection>),
    Carried(Box<CarriedConnection>),
    #[cfg(feature = "embedded")]
    Embedded(Box<EmbeddedConnection>),
    #[cfg(feature = "websocket")]
    WebSocket(Box<WebSocketConnection>),
}

/// Has the one that it is do something.
macro_rules! whichever {
    ($agent:expr, $it:ident => $does:expr) => {
        match $agent {
            Agent::Process($it) => $does,
            Agent::Carried($it) => $does,
            #[cfg(feature = "embedded")]
            Agent::Embedded($it) => $does,
            #[cfg(feature = "websocket")]
            Agent::WebSocket($it) => $does,
        }
    };
}

impl Agent {
    pub(super) async fn ask<C>(&self, call: C, limit: Duration) -> Result<C::Response, Error>
    where
        C: Call<Request = HostRequest>,
    {
        whichever!(self, agent => agent.ask(call, limit).await)
    }

    pub(super) async fn prompt(&self, prompt: UserMessage) -> Result<(), Error> {
        whichever!(self, agent => agent.prompt(prompt).await)
    }

    pub(super) async fn next(&self) -> Option<Result<Message, Error>> {
        whichever!(self, agent => agent.next().await)
    }

    pub(super) async fn end_input(&self) {
        match self {
            Self::Process(agent) => agent.end_input(),
            Self::Carried(agent) => agent.end_input(),
            #[cfg(feature = "embedded")]
            Self::Embedded(agent) => agent.end_input().await,
            #[cfg(feature = "websocket")]
            Self::WebSocket(agent) => agent.end_input(),
        }
    }

    pub(super) async fn close(&self) {
        whichever!(self, agent => agent.close().await);
    }

    /// Waits until it is gone.
    pub(super) async fn gone(&self) {
        whichever!(self, agent => agent.over().await);
    }

    /// The error that its end is, if it is one: `run` is looked at once it has ended.
    pub(super) async fn bad_end<'r>(&self, run: impl Fn() -> MutexGuard<'r, Run>) -> Option<Error> {
        match self {
            Self::Process(agent) => {
                let end = agent.end().await?;
                let in_order = agent.is_closed() || run().may_end_with(end.code);
                (!in_order).then(|| Error::Process((*end).clone()))
            }
            Self::Carried(agent) => {
                let owed = run().is_owed();
                agent.bad_end(owed).await
            }
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => None,
            #[cfg(feature = "websocket")]
            Self::WebSocket(agent) => {
                let owed = run().is_owed();
                agent.bad_end(owed).await
            }
        }
    }
}
