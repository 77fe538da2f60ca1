//! Registry of the paths under which agents connect: each path belongs to one session.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use bowline_websocket::{
    Accepted, Handshake, HandshakeRefusal, KeepAlive, ReceiveCursor, ResumableLink, Side,
};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::mpsc;

use super::{
    latest::Latest,
    listener::ListenerOptions,
    remote_agent::{RemoteAgent, ReservedLink},
};

/// Agents that have connected and were not accepted yet. More are refused for now.
const WAITING: usize = 64;

/// Paths of ended sessions, whose agents are refused as gone. Otherwise an agent would
/// reconnect; one that returns after so many others starts a new session.
const GONE: usize = 4096;

/// Where agents may dial in.
#[derive(Debug)]
pub(super) struct AgentRegistry {
    options: ListenerOptions,
    paths: Mutex<Paths>,
    /// For agents that were not expected.
    arrivals: mpsc::Sender<RemoteAgent>,
}

#[derive(Debug, Default)]
struct Paths {
    taken: HashMap<String, Registration>,
    gone: VecDeque<String>,
}

/// A session's link.
#[derive(Debug)]
struct Registration {
    connections: Arc<Latest<Accepted>>,
    cursor: ReceiveCursor,
}

/// The right to a path. When it is dropped, the session is over.
#[derive(Debug)]
pub(super) struct PathReservation {
    path: String,
    registry: Arc<AgentRegistry>,
}

impl Drop for PathReservation {
    fn drop(&mut self) {
        let mut paths = self.registry.lock();
        paths.taken.remove(&self.path);
        if paths.gone.len() == GONE {
            paths.gone.pop_front();
        }
        paths.gone.push_back(std::mem::take(&mut self.path));
    }
}

impl AgentRegistry {
    pub(super) fn new(options: ListenerOptions) -> (Arc<Self>, mpsc::Receiver<RemoteAgent>) {
        let (arrivals, arriving) = mpsc::channel(WAITING);
        (Arc::new(Self { options, paths: Mutex::default(), arrivals }), arriving)
    }

    /// What an agent must know.
    pub(super) fn token(&self) -> Option<&str> {
        self.options.token.as_deref()
    }

    /// Reserves a path. `None` if it belongs to a session already.
    pub(super) fn reserve(self: &Arc<Self>, path: &str) -> Option<RemoteAgent> {
        let mut paths = self.lock();
        if paths.taken.contains_key(path) {
            return None;
        }
        paths.gone.retain(|gone| gone != path);
        let (resumable, link) = ResumableLink::new(Side::Host);
        let connections = Arc::<Latest<_>>::default();
        let registration =
            Registration { connections: connections.clone(), cursor: resumable.receive_cursor() };
        paths.taken.insert(path.to_owned(), registration);
        drop(paths);
        let reservation = PathReservation { path: path.to_owned(), registry: self.clone() };
        let ListenerOptions { patience, ping, silence, .. } = self.options;
        let keep_alive = KeepAlive { ping, silence };
        let link = ReservedLink { reservation, resumable, link, connections, patience, keep_alive };
        Some(RemoteAgent::at(link))
    }

    /// Decides whether an agent is admitted. Returns the id of the last line received from it.
    pub(super) fn admit(
        self: &Arc<Self>,
        handshake: &Handshake,
    ) -> Result<Option<String>, HandshakeRefusal> {
        // A page in a browser is not an agent, even with a token.
        if handshake.header("origin").is_some() {
            return Err(HandshakeRefusal::Forbidden);
        }
        if self.options.token.as_ref().is_some_and(|token| !handshake.has_token(token)) {
            return Err(HandshakeRefusal::Unauthorized);
        }
        let paths = self.lock();
        match paths.taken.get(&handshake.path) {
            Some(registration) => Ok(registration.cursor.last_received()),
            None if paths.gone.contains(&handshake.path) => Err(HandshakeRefusal::Gone),
            None if self.options.only_expected => Err(HandshakeRefusal::NotFound),
            None if self.arrivals.capacity() == 0 => Err(HandshakeRefusal::Unavailable),
            None => Ok(None),
        }
    }

    /// Hands an admitted agent's connection to its session. An agent without a session is disconnected and
    /// may dial again.
    pub(super) fn deliver(self: &Arc<Self>, accepted: Accepted) {
        let path = &accepted.handshake.path;
        // There must be room before a path is reserved: a path that is released is refused from then on.
        if !self.options.only_expected
            && let Ok(room) = self.arrivals.try_reserve()
            && let Some(stranger) = self.reserve(path)
        {
            room.send(stranger);
        }
        let connections =
            self.lock().taken.get(path).map(|registration| registration.connections.clone());
        if let Some(connections) = connections {
            connections.put(accepted);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Paths> {
        self.paths.lock()
    }
}

impl PathReservation {
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
        let (registry, mut arriving) = AgentRegistry::new(ListenerOptions::default());
        let mut lines = Vec::new();
        // All were admitted before the first of them was seated.
        for number in 0..=WAITING {
            let (accepted, line) = dial(&format!("/{number}")).await;
            registry.deliver(accepted);
            lines.push(line);
        }
        let late = format!("/{WAITING}");
        assert!(registry.lock().gone.is_empty(), "no session is over");
        assert!(!registry.lock().taken.contains_key(&late));
        assert_eq!(arriving.recv().await.unwrap().path(), "/0");
        let (accepted, _line) = dial(&late).await;
        assert_eq!(registry.admit(&accepted.handshake), Ok(None));
        registry.deliver(accepted);
        assert!(registry.lock().taken.contains_key(&late));
    }

    #[tokio::test]
    async fn newer_connection_replaces_the_older_at_once() {
        let (registry, _arriving) = AgentRegistry::new(ListenerOptions::default());
        let agent = registry.reserve("/one").unwrap();
        let (older, _older_line) = dial("/one").await;
        let (mut newer, _newer_line) = dial("/one").await;
        newer.handshake.user_agent = Some("newer".to_owned());
        registry.deliver(older);
        registry.deliver(newer);
        let taken = agent.take().unwrap().connections.take().await;
        assert_eq!(taken.handshake.user_agent.as_deref(), Some("newer"));
    }
}
