//! What doors over lines of JSON share: a session and its host on the two sides of a link.
//!
//! A door supplies a [`Link`]; this is all that follows from it. Lines are taken in their order,
//! prompts and questions are handed to the [`Session`], and what the engine says and asks is put
//! on the wire. What a prompt or a question *means* is not known here, and neither is what
//! carries the lines.
//!
//! ```text
//! let door = Door::over(link, Opening::Free);
//! let (session, work) = Session::start(config, door.host())?;
//! let end = door.serve(session, work).await?;
//! ```

mod forgiving;
mod host;
mod input;
mod questions;
mod serve;
mod spare;
mod unanswered;

use std::sync::Arc;

use bowline_engine::Host;
use bowline_peer::{Inbox, Link, Peer, Questions, SessionFuture, connect_with};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::{host::PeerHost, serve::DoorService, unanswered::Unanswered};
pub use self::{
    input::InputError,
    spare::{Claims, Spare},
};

#[cfg(doc)]
use bowline_engine::Session;

/// What the host promises.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Opening {
    /// Nothing: prompts may come before `initialize`, or without it.
    #[default]
    Free,
    /// That `initialize` comes first. Anything else is an error.
    InitializeFirst,
}

/// Faults that wait to be looked at. One is enough, because the first one ends the session.
const FAULTS: usize = 1;

/// A host on the other end of a link.
pub struct Door {
    host: Arc<PeerHost>,
    peer: Peer,
    inbox: Inbox,
    wire: SessionFuture,
    faults: mpsc::Receiver<InputError>,
    /// Fires when the session is over, so that the wire need not stay open.
    over: CancellationToken,
    opening: Opening,
}

impl Door {
    /// Connects to a host. Nothing is read before [`serve`](Self::serve) runs.
    pub fn over(link: Link, opening: Opening) -> Self {
        let mut options = bowline_peer::Options::default();
        // A prompt and a question behind it are taken up in their order.
        options.questions = Questions::Inbox;
        // A person may think about a permission as long as they like.
        options.time_limit = None;
        let (report, faults) = mpsc::channel(FAULTS);
        let over = CancellationToken::new();
        let service = DoorService { report, over: over.clone() };
        let (peer, inbox, wire) = connect_with(link, |_| service, options);
        let host = Arc::new(PeerHost { peer: peer.clone(), unanswered: Unanswered::default() });
        Self { host, peer, inbox, wire, faults, over, opening }
    }

    /// A way to say no more, for when the session is to end without another word.
    pub fn silencer(&self) -> Silencer {
        Silencer(self.peer.clone())
    }

    /// The host, as the engine sees it.
    pub fn host(&self) -> Arc<dyn Host> {
        self.host.clone()
    }
}

/// A way to say no more.
#[derive(Debug, Clone)]
pub struct Silencer(Peer);

impl Silencer {
    /// What was said is still written; nothing more is.
    pub fn silence(&self) {
        self.0.end_output();
    }
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Door").field("opening", &self.opening).finish_non_exhaustive()
    }
}
