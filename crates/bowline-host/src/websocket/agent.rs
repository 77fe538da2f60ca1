//! An agent that dials in, before anybody talks to it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bowline_peer::Link;
use bowline_websocket::{Accepted, KeepAlive, Tether};

use super::{seats::Ticket, slot::Slot};

/// An agent that dials in: give it to [`Options::websocket`](crate::Options::websocket).
///
/// It need not be there yet: whoever connects to it waits for it. It has one session; of clones
/// only the first that is connected to gets it.
#[derive(Debug, Clone)]
pub struct RemoteAgent {
    path: Arc<str>,
    place: Arc<Mutex<Option<Place>>>,
}

/// An agent's place in the listener.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) ticket: Ticket,
    pub(super) tether: Tether,
    pub(super) link: Link,
    pub(super) connections: Arc<Slot<Accepted>>,
    /// How long it may be away.
    pub(super) patience: Duration,
    pub(super) keep_alive: KeepAlive,
}

impl RemoteAgent {
    pub(super) fn at(place: Place) -> Self {
        let path = place.ticket.path().into();
        Self { path, place: Arc::new(Mutex::new(Some(place))) }
    }

    /// The path under which it dials in.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its place; `None` if somebody has it already.
    pub(super) fn take(&self) -> Option<Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
