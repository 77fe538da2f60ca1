//! A link that survives reconnects: replays what it sent, deduplicates what it receives.

mod carry;
mod pongs;
mod receive_state;

use std::sync::Arc;

use bowline_peer::{Arrival, Link};
use bowline_protocol::Line;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, mpsc};

pub use self::carry::Disconnect;
use self::{
    pongs::PongBudget,
    receive_state::{Disposition, ReceiveState},
};
use crate::replay_buffer::ReplayBuffer;

/// Lines in transit between the session and its connection. Longer queues are elsewhere: the
/// session's outbox and inbox.
const IN_TRANSIT: usize = 64;

/// Which end of a session this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The agent's, which is given prompts.
    Agent,
    /// The host's.
    Host,
}

/// A link that outlives its connections.
///
/// It runs over one [`Socket`](crate::Socket) after the other: [`carry`](Self::carry).
#[derive(Debug)]
pub struct ResumableLink {
    state: Arc<LinkState>,
    /// Lines that the session sends.
    outgoing: mpsc::Receiver<String>,
    /// The session sends no more.
    output_ended: bool,
    /// Lines that the session receives; `None` after the end of its input.
    incoming: Option<mpsc::Sender<Arrival>>,
}

/// State that both directions share.
#[derive(Debug)]
struct LinkState {
    directions: Mutex<Directions>,
    /// There is something to write, or capacity for more lines.
    wake: Notify,
    pongs: PongBudget,
}

#[derive(Debug)]
struct Directions {
    sent: ReplayBuffer,
    received: ReceiveState,
}

impl Directions {
    /// Begins another connection, on which the other end has named the last line it has.
    fn connected(&mut self, last_received: Option<&str>) {
        self.received.connected();
        self.sent.resume(last_received);
    }
}

impl LinkState {
    fn lock(&self) -> MutexGuard<'_, Directions> {
        self.directions.lock()
    }
}

/// Injects lines into a session that did not arrive on a connection of its link.
#[derive(Debug, Clone)]
pub struct LineInjector {
    state: Arc<LinkState>,
    incoming: mpsc::Sender<Arrival>,
}

impl LineInjector {
    /// Delivers a line to the session, unless it was delivered before.
    pub async fn inject(&self, line: String) {
        let Ok(slot) = self.incoming.reserve().await else { return };
        if self.state.lock().receive(&line) == Disposition::Deliver {
            slot.send(Ok(Line { number: 0, offset: 0, text: line }));
        }
    }
}

/// A handle that reads how far a link has received, without owning the link.
#[derive(Debug, Clone)]
pub struct ReceiveCursor(Arc<LinkState>);

impl ReceiveCursor {
    /// The uuid of the last message that was received.
    pub fn last_received(&self) -> Option<String> {
        self.0.lock().received.newest().map(str::to_owned)
    }
}

impl ResumableLink {
    /// A resumable link, and the session's end of it.
    pub fn new(side: Side) -> (Self, Link) {
        let (sender, outgoing) = mpsc::channel(IN_TRANSIT);
        let (incoming, receiver) = mpsc::channel(IN_TRANSIT);
        let directions =
            Directions { sent: ReplayBuffer::default(), received: ReceiveState::new(side) };
        let state = Arc::new(LinkState {
            directions: Mutex::new(directions),
            wake: Notify::new(),
            pongs: PongBudget::default(),
        });
        let resumable = Self { state, outgoing, output_ended: false, incoming: Some(incoming) };
        (resumable, Link::channels(receiver, sender))
    }

    /// A handle to the last message that was received.
    pub fn receive_cursor(&self) -> ReceiveCursor {
        ReceiveCursor(self.state.clone())
    }

    /// A handle that injects lines into the session; `None` after the end of its input.
    pub fn injector(&self) -> Option<LineInjector> {
        let incoming = self.incoming.clone()?;
        Some(LineInjector { state: self.state.clone(), incoming })
    }

    /// The uuid of the last message that was sent, acknowledged or not.
    pub fn last_sent(&self) -> Option<String> {
        self.state.lock().sent.newest().map(str::to_owned)
    }

    /// How much has got through, in either direction. It grows with every message, prompt, request
    /// of ours and response to one that arrives for the first time: a host that initializes or
    /// configures the session over and over makes no progress.
    pub fn progress(&self) -> u64 {
        let directions = self.state.lock();
        directions.sent.progress() + directions.received.count()
    }

    /// Whether the session sends no more, and the other end has acknowledged all of it.
    pub fn is_done(&self) -> bool {
        self.output_ended && self.state.lock().sent.is_delivered()
    }

    /// Buffers what the session sends while there is no connection, until `other` completes.
    pub async fn buffer_during<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = std::pin::pin!(other);
        loop {
            tokio::select! {
                biased;
                done = &mut other => return done,
                line = self.outgoing.recv(), if !self.output_ended => self.buffer(line),
            }
        }
    }

    /// Buffers what the session sends until it sends no more.
    pub async fn drain_output(&mut self) {
        while !self.output_ended {
            let line = self.outgoing.recv().await;
            self.buffer(line);
        }
    }

    /// Ends the session's input.
    pub fn end_input(&mut self) {
        self.incoming = None;
    }

    fn buffer(&mut self, line: Option<String>) {
        match line {
            Some(line) => self.state.lock().sent.push(line),
            None => self.output_ended = true,
        }
    }
}

#[cfg(test)]
mod tests;
