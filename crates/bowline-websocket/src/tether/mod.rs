//! What stays when a connection breaks.

mod carry;
mod hearing;
mod pongs;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bowline_peer::{Arrival, Link};
use bowline_protocol::Line;
use tokio::sync::{Notify, mpsc};

pub use self::carry::Parting;
use self::{
    hearing::{Hearing, Verdict},
    pongs::Pongs,
};
use crate::memory::Memory;

/// Lines on their way between the session and its connection. They wait elsewhere: those to say
/// in the session's outbox, those that were heard in its inbox.
const ON_THE_WAY: usize = 64;

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
/// It speaks over one [`Socket`](crate::Socket) after the other: [`hold`](Self::hold).
#[derive(Debug)]
pub struct Tether {
    state: Arc<State>,
    /// What the session says.
    outgoing: mpsc::Receiver<String>,
    /// The session says no more.
    said_all: bool,
    /// What the session hears; `None` once it was told that there is no more.
    incoming: Option<mpsc::Sender<Arrival>>,
}

/// What the two directions share.
#[derive(Debug)]
struct State {
    ends: Mutex<Ends>,
    /// There is something to write, or room to say more.
    wake: Notify,
    pongs: Pongs,
}

#[derive(Debug)]
struct Ends {
    said: Memory,
    heard: Hearing,
}

impl Ends {
    /// There is another connection, to somebody who names the last line they have.
    fn connected(&mut self, last_heard: Option<&str>) {
        self.heard.connected();
        self.said.resume(last_heard);
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A way to let a session hear what was not said on any connection, but learned otherwise.
#[derive(Debug, Clone)]
pub struct Hearsay {
    state: Arc<State>,
    incoming: mpsc::Sender<Arrival>,
}

impl Hearsay {
    /// Lets the session hear a line, unless it has heard it before.
    pub async fn hear(&self, line: String) {
        let Ok(room) = self.incoming.reserve().await else { return };
        if self.state.lock().hear(&line) == Verdict::Take {
            room.send(Ok(Line { number: 0, offset: 0, text: line }));
        }
    }
}

/// What is known of a tether without holding it.
#[derive(Debug, Clone)]
pub struct Trace(Arc<State>);

impl Trace {
    /// The name of the last message that was heard.
    pub fn last_heard(&self) -> Option<String> {
        self.0.lock().heard.newest().map(str::to_owned)
    }
}

impl Tether {
    /// A tether, and the link that it is for a session.
    pub fn new(side: Side) -> (Self, Link) {
        let (to_say, outgoing) = mpsc::channel(ON_THE_WAY);
        let (incoming, to_hear) = mpsc::channel(ON_THE_WAY);
        let ends = Mutex::new(Ends { said: Memory::default(), heard: Hearing::new(side) });
        let state = Arc::new(State { ends, wake: Notify::new(), pongs: Pongs::default() });
        let tether = Self { state, outgoing, said_all: false, incoming: Some(incoming) };
        (tether, Link::channels(to_hear, to_say))
    }

    /// What can be seen of it from elsewhere.
    pub fn trace(&self) -> Trace {
        Trace(self.state.clone())
    }

    /// A way to let the session hear something else; `None` if it hears no more.
    pub fn hearsay(&self) -> Option<Hearsay> {
        let incoming = self.incoming.clone()?;
        Some(Hearsay { state: self.state.clone(), incoming })
    }

    /// The name of the last message that was said, whether anybody heard it or not.
    pub fn last_said(&self) -> Option<String> {
        self.state.lock().said.newest().map(str::to_owned)
    }

    /// How much has got through, in either direction. It grows with every message, prompt, question
    /// of ours and answer to one that arrives for the first time: a host that opens the session,
    /// or sets it up, over and over, moves nothing on.
    pub fn progress(&self) -> u64 {
        let ends = self.state.lock();
        ends.said.progress() + ends.heard.count()
    }

    /// Whether the session says no more, and the other end has heard all of it.
    pub fn is_done(&self) -> bool {
        self.said_all && self.state.lock().said.is_delivered()
    }

    /// Listens to the session while there is no connection and `other` goes on. What is said is
    /// remembered, as far as there is room.
    pub async fn meanwhile<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = std::pin::pin!(other);
        loop {
            tokio::select! {
                biased;
                done = &mut other => return done,
                line = self.outgoing.recv(), if !self.said_all => self.remember(line),
            }
        }
    }

    /// Listens until the session says no more.
    pub async fn hear_out(&mut self) {
        while !self.said_all {
            let line = self.outgoing.recv().await;
            self.remember(line);
        }
    }

    /// Tells the session that nothing more will be heard.
    pub fn end_input(&mut self) {
        self.incoming = None;
    }

    fn remember(&mut self, line: Option<String>) {
        match line {
            Some(line) => self.state.lock().said.push(line),
            None => self.said_all = true,
        }
    }
}

#[cfg(test)]
mod tests;
