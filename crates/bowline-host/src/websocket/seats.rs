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
    slot::Slot,
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
    connections: Arc<Slot<Accepted>>,
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

    /// What an agent must know.
    pub(super) fn token(&self) -> Option<&str> {
        self.options.token.as_deref()
    }

    /// Reserves a path. `None` if it belongs to a session already.
    pub(super) fn reserve(self: &Arc<Self>, path: &str) -> Option<RemoteAgent> {
        let mut places = self.lock();
        if places.taken.contains_key(path) {
            return None;
        }
        places.gone.retain(|gone| gone != path);
        let (tether, link) = Tether::new(Side::Host);
        let connections = Arc::<Slot<_>>::default();
        let seat = Seat { connections: connections.clone(), trace: tether.trace() };
        places.taken.insert(path.to_owned(), seat);
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

    /// Shows an agent that was admitted to its place. One for whom there is none is hung up on and
    /// may dial again.
    pub(super) fn seat(self: &Arc<Self>, accepted: Accepted) {
        let path = &accepted.knock.path;
        // There must be room before a path is reserved: one that is given back counts as gone.
        if !self.options.only_expected
            && let Ok(room) = self.arrivals.try_reserve()
            && let Some(stranger) = self.reserve(path)
        {
            room.send(stranger);
        }
        let connections = self.lock().taken.get(path).map(|seat| seat.connections.clone());
        if let Some(connections) = connections {
            connections.put(accepted);
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

#[cfg(test)]
mod tests {
    use bowline_websocket::accept;
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// An agent that has dialed a path, and its end of the line.
    async fn dial(path: &str) -> (Accepted, tokio::io::DuplexStream) {
        let (ours, mut theirs) = tokio::io::duplex(4096);
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        theirs.write_all(request.as_bytes()).await.unwrap();
        (accept(ours, |_| Ok(None)).await.unwrap(), theirs)
    }

    #[tokio::test]
    async fn strangers_beyond_the_room_may_dial_again() {
        let (seats, mut arriving) = Seats::new(ListenerOptions::default());
        let mut lines = Vec::new();
        // All were admitted before the first of them was seated.
        for number in 0..=WAITING {
            let (accepted, line) = dial(&format!("/{number}")).await;
            seats.seat(accepted);
            lines.push(line);
        }
        let late = format!("/{WAITING}");
        assert!(seats.lock().gone.is_empty(), "nobody's session is over");
        assert!(!seats.lock().taken.contains_key(&late));
        assert_eq!(arriving.recv().await.unwrap().path(), "/0");
        let (accepted, _line) = dial(&late).await;
        assert_eq!(seats.admit(&accepted.knock), Ok(None));
        seats.seat(accepted);
        assert!(seats.lock().taken.contains_key(&late));
    }

    #[tokio::test]
    async fn a_newer_connection_replaces_the_older_at_once() {
        let (seats, _arriving) = Seats::new(ListenerOptions::default());
        let agent = seats.reserve("/one").unwrap();
        let (older, _older_line) = dial("/one").await;
        let (mut newer, _newer_line) = dial("/one").await;
        newer.knock.user_agent = Some("newer".to_owned());
        seats.seat(older);
        seats.seat(newer);
        let taken = agent.take().unwrap().connections.take().await;
        assert_eq!(taken.knock.user_agent.as_deref(), Some("newer"));
    }
}
