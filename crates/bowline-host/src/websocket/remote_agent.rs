//! Agents that connect by themselves, before their session is opened.

use std::{sync::Arc, time::Duration};

use bowline_peer::Link;
use bowline_websocket::{Accepted, KeepAlive, ResumableLink};
use parking_lot::Mutex;

use super::{latest::Latest, registry::PathReservation};

/// An agent that dials in: give it to [`Options::websocket`](crate::Options::websocket).
///
/// It need not have connected yet: a session waits for it. It has one session; of clones
/// only the first that is connected to gets it.
#[derive(Debug, Clone)]
pub struct RemoteAgent {
    path: Arc<str>,
    link: Arc<Mutex<Option<ReservedLink>>>,
}

/// An agent's link in the listener.
#[derive(Debug)]
pub(super) struct ReservedLink {
    pub(super) reservation: PathReservation,
    pub(super) resumable: ResumableLink,
    pub(super) link: Link,
    pub(super) connections: Arc<Latest<Accepted>>,
    /// How long it may be away.
    pub(super) patience: Duration,
    pub(super) keep_alive: KeepAlive,
}

impl RemoteAgent {
    pub(super) fn at(link: ReservedLink) -> Self {
        let path = link.reservation.path().into();
        Self { path, link: Arc::new(Mutex::new(Some(link))) }
    }

    /// The path under which it dials in.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its link; `None` if a session has it already.
    pub(super) fn take(&self) -> Option<ReservedLink> {
        self.link.lock().take()
    }
}
