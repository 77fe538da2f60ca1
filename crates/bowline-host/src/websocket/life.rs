//! Lifetime of a session with an agent elsewhere, over successive connections.

use std::{sync::Arc, time::Duration};

use bowline_peer::{CallError, Peer, SessionError};
use bowline_protocol::{HostRequest, PendingRequest};
use bowline_websocket::{Accepted, ConnectionLost, Disconnect, KeepAlive, ResumableLink};
use serde_json::json;
use tokio::{sync::watch, time};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use uuid::Uuid;

use super::{latest::Latest, on_demand::Running, registry::PathReservation};
use crate::error::Error;

/// How the session ended; `None` while it has not.
pub(super) type Ended = watch::Receiver<Option<End>>;

/// How a session ended.
#[derive(Debug, Clone)]
pub(super) enum End {
    /// Either side hung up.
    InOrder,
    /// The agent went away and did not come back.
    Gone(Arc<str>),
    /// The agent that we had started has failed.
    Failed(Error),
}

/// All that belongs to a session with an agent elsewhere.
pub(super) struct Life {
    pub(super) reservation: PathReservation,
    pub(super) resumable: ResumableLink,
    pub(super) connections: Arc<Latest<Accepted>>,
    pub(super) peer: Peer,
    pub(super) wire: AbortOnDropHandle<Result<(), SessionError>>,
    /// Our `initialize`, for agents that need it again after a reconnect.
    pub(super) opening: HostRequest,
    /// How long the agent may be away.
    pub(super) patience: Duration,
    pub(super) keep_alive: KeepAlive,
    /// The agent itself, if we had it started.
    pub(super) running: Option<Running>,
    /// Fires when we want the session to end …
    pub(super) closing: CancellationToken,
    /// … for which the agent has this long.
    pub(super) limit: Duration,
}

impl Life {
    pub(super) fn begin(self) -> (AbortOnDropHandle<()>, Ended) {
        let (publish, ended) = watch::channel(None);
        (AbortOnDropHandle::new(tokio::spawn(self.live(publish))), ended)
    }

    async fn live(mut self, publish: watch::Sender<Option<End>>) {
        let (closing, limit) = (self.closing.clone(), self.limit);
        let late = async {
            closing.cancelled().await;
            time::sleep(limit).await;
        };
        let end = tokio::select! {
            end = self.talk() => end,
            () = late => End::InOrder,
        };
        // If the agent reconnects it is refused: the session is over.
        drop(self.reservation);
        let end = let_go(self.running.take(), limit, end).await;
        publish.send_replace(Some(end));
        // Pending calls fail now, and messages that arrived can still be read.
        self.resumable.end_input();
        self.peer.end_output();
        self.resumable.drain_output().await;
        if let Ok(Err(error)) = self.wire.await {
            tracing::warn!(%error, "the session with an agent elsewhere");
        }
    }

    /// Serves one connection after the other until the session ends.
    async fn talk(&mut self) -> End {
        let mut next = None;
        let mut lost: Option<ConnectionLost> = None;
        let mut known = false;
        loop {
            let accepted = match next.take() {
                Some(accepted) => accepted,
                None => tokio::select! {
                    biased;
                    accepted = self.connections.take() => accepted,
                    () = self.closing.cancelled() => return End::InOrder,
                    ended = ended(self.running.as_mut()) => {
                        self.running = None;
                        return ended;
                    }
                    () = time::sleep(self.patience) => {
                        return End::Gone(self.describe(lost.as_ref()).into());
                    }
                },
            };
            let _catching_up = known.then(|| self.catch_up(&accepted)).flatten();
            known = true;
            tokio::select! {
                biased;
                // The agent knows better than we whether its last connection still works.
                newer = self.connections.take() => next = Some(newer),
                disconnect = self.resumable.carry(accepted.socket, self.keep_alive) => match disconnect {
                    Disconnect::Done | Disconnect::Closed => return End::InOrder,
                    Disconnect::Lost(why) => {
                        tracing::info!(%why, path = self.reservation.path(), "an agent is away");
                        lost = Some(why);
                    }
                },
            }
            if self.resumable.is_done() {
                return End::InOrder;
            }
        }
    }

    fn describe(&self, lost: Option<&ConnectionLost>) -> String {
        let (path, patience) = (self.reservation.path(), self.patience);
        match lost {
            Some(lost) => format!(
                "the agent at {path} is gone: {lost}, and it did not come back within {patience:?}"
            ),
            None => format!("no agent dialed {path} within {patience:?}"),
        }
    }

    /// Recovers requests that an agent sent during a gap, unless it resends them as Bowline does: the official CLI
    /// resends nothing, but lists its pending requests in its response to `initialize`.
    fn catch_up(&self, accepted: &Accepted) -> Option<AbortOnDropHandle<()>> {
        let handshake = &accepted.handshake;
        if handshake.user_agent.as_ref().is_some_and(|name| name.starts_with("bowline/")) {
            return None;
        }
        let missed = handshake.last_sent != self.resumable.receive_cursor().last_received();
        let (peer, opening) = (self.peer.clone(), self.opening.clone());
        let injector = self.resumable.injector()?;
        Some(AbortOnDropHandle::new(tokio::spawn(async move {
            if missed {
                let notice = json!({
                    "type": "system", "subtype": "messages_lost", "lost": null,
                    "uuid": Uuid::new_v4().to_string(), "session_id": "",
                });
                injector.inject(notice.to_string()).await;
            }
            for request in pending_requests(&peer, &opening).await {
                match serde_json::to_string(&request) {
                    Ok(line) => injector.inject(line).await,
                    Err(error) => tracing::warn!(%error, "a request is lost"),
                }
            }
        })))
    }
}

/// Waits for the end of an agent that was started on demand. One that takes too long is dropped.
async fn let_go(running: Option<Running>, limit: Duration, end: End) -> End {
    let Some(running) = running else { return end };
    match (time::timeout(limit, running).await, end) {
        (Ok(Ok(Err(error))), End::InOrder) => End::Failed(error),
        (_, end) => end,
    }
}

/// How an agent ended that we had started. One that we did not start never does.
async fn ended(running: Option<&mut Running>) -> End {
    match running {
        None => std::future::pending().await,
        Some(running) => match running.await {
            Ok(Ok(())) => End::Gone("the agent ended and is not connected".into()),
            Ok(Err(error)) => End::Failed(error),
            Err(error) => End::Gone(format!("starting the agent panicked: {error}").into()),
        },
    }
}

/// The agent's pending requests, from its response to `initialize`.
async fn pending_requests(peer: &Peer, opening: &HostRequest) -> Vec<PendingRequest> {
    let listed = match peer.request_envelope(opening).await {
        Ok(success) => success.pending_permission_requests,
        // A refusal as already initialized is expected.
        Err(CallError::Refused(failure)) => failure.pending_permission_requests,
        Err(error) => {
            tracing::info!(%error, "an agent does not list its pending requests");
            None
        }
    };
    listed.unwrap_or_default()
}
