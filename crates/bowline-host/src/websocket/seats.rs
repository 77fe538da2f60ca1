//! Which agent dials in where: each path belongs to one session.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bowline_websocket::{Accepted, KeepAlive, Knock, Refusal, Side, Tether, Trace};
use tokio::sync::mpsc;

use super::{
    agent::{Place, RemoteAgent},
    listener::ListenerOptions,
};

/// Agents that have dialed in and that nobody has taken up yet. More are told to come later.
const WAITING: usize = 64;

/// Paths whose sessions are over, and whose agents are told so. An agent that is told nothing
/// would dial again; one that comes after so many others begins anew.
const GONE: usize = 4096;

/// Where agents may dial in.
#[derive(Debug)]
pub(super) struct Seats {
    options: ListenerOptions,
    places: Mutex<Places>,
    /// For agents that nobody expects.
    arrivals: mpsc::Sender<RemoteAgent>,
}

#[derive(Debug, Default)]
struct Places {
    taken: HashMap<String, Seat>,
    gone: VecDeque<String>,
}

/// A session's place.
#[derive(Debug)]
struct Seat {
    sockets: mpsc::Sender<Accepted>,
    trace: Trace,
}

/// The right to a path. When it is dropped, the session is over.
#[derive(Debug)]
pub(super) struct Ticket {
    path: String,
    seats: Arc<Seats>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut places = self.seats.lock();
        places.taken.remove(&self.path);
        if places.gone.len() == GONE {
            places.gone.pop_front();
        }
        places.gone.push_back(std::mem::take(&mut self.path));
    }
}

impl Seats {
    pub(super) fn new(options: ListenerOptions) -> (Arc<Self>, mpsc::Receiver<RemoteAgent>) {
        let (arrivals, arriving) = mpsc::channel(WAITING);
        (Arc::new(Self { options, places: Mutex::default(), arrivals }), arriving)
    }

    /// Reserves a path. `None` if it belongs to a session already.
    pub(super) fn reserve(self: &Arc<Self>, path: &str) -> Option<RemoteAgent> {
        let mut places = self.lock();
        if places.taken.contains_key(path) {
            return None;
        }
        places.gone.retain(|gone| gone != path);
        let (tether, link) = Tether::new(Side::Host);
        // One is enough: a newer connection of an agent replaces the older.
        let (sockets, connections) = mpsc::channel(1);
        places.taken.insert(path.to_owned(), Seat { sockets, trace: tether.trace() });
        drop(places);
        let ticket = Ticket { path: path.to_owned(), seats: self.clone() };
        let ListenerOptions { patience, ping, silence, .. } = self.options;
        let keep_alive = KeepAlive { ping, silence };
        let place = Place { ticket, tether, link, connections, patience, keep_alive };
        Some(RemoteAgent::at(place))
    }

    /// Whether an agent may come in, and what was last heard of it.
    pub(super) fn admit(self: &Arc<Self>, knock: &Knock) -> Result<Option<String>, Refusal> {
        // A page in somebody's browser is no agent, whatever it knows.
        if knock.header("origin").is_some() {
            return Err(Refusal::Forbidden);
        }
        if self.options.token.as_ref().is_some_and(|token| !knock.knows(token)) {
            return Err(Refusal::Unauthorized);
        }
        let places = self.lock();
        match places.taken.get(&knock.path) {
            Some(seat) => Ok(seat.trace.last_heard()),
            None if places.gone.contains(&knock.path) => Err(Refusal::Gone),
            None if self.options.only_expected => Err(Refusal::NotFound),
            None if self.arrivals.capacity() == 0 => Err(Refusal::Unavailable),
            None => Ok(None),
        }
    }

    /// Shows an agent that was admitted to its place.
    pub(super) async fn seat(self: &Arc<Self>, accepted: Accepted) {
        let path = accepted.knock.path.clone();
        if let Some(stranger) = (!self.options.only_expected).then(|| self.reserve(&path)).flatten()
            && self.arrivals.try_send(stranger).is_err()
        {
            return;
        }
        let sockets = self.lock().taken.get(&path).map(|seat| seat.sockets.clone());
        if let Some(sockets) = sockets {
            // Nobody takes it if the session has just ended.
            sockets.send(accepted).await.ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    pub(super) fn path(&self) -> &str {
        &self.path
    }
}
