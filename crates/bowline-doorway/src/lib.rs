//! The agent's side of the protocol: a session and its host on the two sides of a link.
//!
//! A door supplies a [`Link`]; the rest is here. Lines are read in order, prompts and control
//! requests are handed to the [`Session`], and the engine's messages and requests are put
//! on the wire. What a prompt or a request *means* is not known here, and neither is what
//! carries the lines. For stdin and stdout the door is [`Door::stdio`].
//!
//! ```text
//! let door = Door::over(link, Opening::Free);
//! let (session, work) = Session::start(config, door.host())?;
//! let end = door.serve(session, work).await?;
//! ```

mod host;
mod input;
mod lenient;
mod requests;
mod serve;
mod spare;
mod stdio;

use std::sync::Arc;

use bowline_engine::Host;
use bowline_peer::{Inbox, Link, Peer, RequestRouting, SessionFuture, connect};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::{host::PeerHost, serve::DoorService};
pub use self::{
    input::InputError,
    spare::{Claims, Spare},
};

#[cfg(doc)]
use bowline_engine::Session;

/// What the host sends first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Opening {
    /// Anything: prompts may come before `initialize`, or without it.
    #[default]
    Free,
    /// `initialize`. Anything else is an error.
    InitializeFirst,
}

/// Queued faults. One is enough, because the first one ends the session.
const FAULTS: usize = 1;

/// A host on the other end of a link.
pub struct Door {
    host: Arc<PeerHost>,
    peer: Peer,
    inbox: Inbox,
    wire: SessionFuture,
    faults: mpsc::Receiver<InputError>,
    /// Fires when the session is over, so that the wire may close.
    over: CancellationToken,
    opening: Opening,
}

impl Door {
    /// Connects to a host. Nothing is read before [`serve`](Self::serve) runs.
    pub fn over(link: Link, opening: Opening) -> Self {
        let mut options = bowline_peer::Options::default();
        // A prompt and a request after it are handled in order.
        options.request_routing = RequestRouting::Inbox;
        // The user may take any time to decide about a permission.
        options.time_limit = None;
        let (report, faults) = mpsc::channel(FAULTS);
        let over = CancellationToken::new();
        let service = DoorService { report, over: over.clone() };
        let (peer, inbox, wire) = connect(link, service, options);
        let host = Arc::new(PeerHost { peer: peer.clone() });
        Self { host, peer, inbox, wire, faults, over, opening }
    }

    /// A handle that ends the output, for a session that must end without another message.
    pub fn silencer(&self) -> Silencer {
        Silencer(self.peer.clone())
    }

    /// The host, as the engine sees it.
    pub fn host(&self) -> Arc<dyn Host> {
        self.host.clone()
    }
}

/// Ends the output of a door.
#[derive(Debug, Clone)]
pub struct Silencer(Peer);

impl Silencer {
    /// Queued lines are still written; no more are accepted.
    pub fn silence(&self) {
        self.0.end_output();
    }
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Door").field("opening", &self.opening).finish_non_exhaustive()
    }
}
