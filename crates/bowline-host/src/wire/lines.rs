//! An agent at the other end of lines, whatever carries them: ask, tell, hear.

use std::time::Duration;

use bowline_peer::{AskError, Inbox, Peer, TellError};
use bowline_protocol::{Call, HostLine, HostRequest, Message, UserMessage};
use tokio::sync::mpsc;

use super::Incoming;
use crate::Error;

/// An agent at the other end of lines.
pub(crate) struct Lines {
    peer: Peer,
    incoming: Incoming,
}

impl Lines {
    pub(crate) fn new(peer: Peer, inbox: Inbox, faults: mpsc::Receiver<Error>) -> Self {
        Self { peer, incoming: Incoming::new(inbox, faults) }
    }

    /// Asks the agent. `why_closed` is waited for if it can be asked no more.
    pub(crate) async fn ask<C>(
        &self,
        call: C,
        limit: Duration,
        why_closed: impl Future<Output = Error>,
    ) -> Result<C::Response, Error>
    where
        C: Call<Request = HostRequest>,
    {
        match self.peer.within(limit).ask(call).await {
            Ok(answer) => Ok(answer),
            Err(AskError::Closed) => Err(why_closed.await),
            Err(error) => Err(Error::unanswered(C::SUBTYPE, error, Error::Closed)),
        }
    }

    /// Tells the agent to do something. `why_closed` is waited for if it can be told no more.
    pub(crate) async fn prompt(
        &self,
        prompt: UserMessage,
        why_closed: impl Future<Output = Error>,
    ) -> Result<(), Error> {
        match self.peer.tell(&HostLine::from(prompt)).await {
            Ok(()) => Ok(()),
            Err(TellError::Unwritable(error)) => Err(Error::Prompt { source: error.into() }),
            Err(_) => Err(why_closed.await),
        }
    }

    /// The next message; `None` when the agent has said all.
    pub(crate) async fn next(&self) -> Option<Result<Message, Error>> {
        self.incoming.next().await
    }

    /// Says no more. The agent may go on talking.
    pub(crate) fn end_output(&self) {
        self.peer.end_output();
    }
}
