//! An agent that dials in, before anybody talks to it.

use std::{fmt, time::Duration};

use bowline_peer::Link;
use bowline_websocket::{Accepted, KeepAlive, Tether};
use tokio::sync::mpsc;

use super::seats::Ticket;

/// An agent that dials in: give it to [`Options::websocket`](crate::Options::websocket).
///
/// It need not be there yet: whoever connects to it waits for it.
pub struct RemoteAgent {
    pub(super) ticket: Ticket,
    pub(super) tether: Tether,
    pub(super) link: Link,
    pub(super) connections: mpsc::Receiver<Accepted>,
    pub(super) patience: Duration,
    pub(super) keep_alive: KeepAlive,
}

impl RemoteAgent {
    /// The path under which it dials in.
    pub fn path(&self) -> &str {
        self.ticket.path()
    }
}

impl fmt::Debug for RemoteAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteAgent").field("path", &self.path()).finish_non_exhaustive()
    }
}
