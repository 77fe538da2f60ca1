//! Client end of a link of lines to an agent, over any carrier: requests, prompts, messages.

use std::time::Duration;

use bowline_peer::{CallError, Inbox, Peer, SendError};
use bowline_protocol::{HostLine, HostRequest, Message, RawJson, UserMessage};
use tokio::sync::mpsc;

use super::Incoming;
use crate::error::Error;

/// Client end of a link of lines to an agent.
pub(crate) struct Lines {
    peer: Peer,
    incoming: Incoming,
}

impl Lines {
    pub(crate) fn new(peer: Peer, inbox: Inbox, faults: mpsc::Receiver<Error>) -> Self {
        Self { peer, incoming: Incoming::new(inbox, faults) }
    }

    /// Sends a control request and waits for its response. `why_closed` is awaited if the link is closed.
    pub(crate) async fn request(
        &self,
        request: HostRequest,
        subtype: &'static str,
        limit: Duration,
        why_closed: impl Future<Output = Error>,
    ) -> Result<Option<RawJson>, Error> {
        match self.peer.within(limit).request_raw(&request).await {
            Ok(response) => Ok(response),
            Err(CallError::Closed) => Err(why_closed.await),
            Err(error) => Err(Error::request(subtype, error)),
        }
    }

    /// Sends a prompt. `why_closed` is awaited if the link is closed.
    pub(crate) async fn prompt(
        &self,
        prompt: UserMessage,
        why_closed: impl Future<Output = Error>,
    ) -> Result<(), Error> {
        match self.peer.send(&HostLine::from(prompt)).await {
            Ok(()) => Ok(()),
            Err(SendError::Unwritable(error)) => Err(Error::Prompt { source: error.into() }),
            Err(_) => Err(why_closed.await),
        }
    }

    /// The next message, if it has arrived.
    pub(crate) fn try_next(&self) -> Option<Result<Message, Error>> {
        self.incoming.try_next()
    }

    /// The next message; `None` after the last.
    pub(crate) async fn next(&self) -> Option<Result<Message, Error>> {
        self.incoming.next().await
    }

    /// Closes our direction of the link. The agent may continue to send.
    pub(crate) fn end_output(&self) {
        self.peer.end_output();
    }
}
