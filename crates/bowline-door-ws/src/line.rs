//! The line to the host: dialed, kept, dialed again, and at last given up.

use bowline_websocket::{DialError, Dialer, Lost, Parting, Tether};
use tokio::time;

use crate::redial::{Redial, Tries, Worth};

/// What an HTTP server answers when there was something, and never will be again.
const GONE: u16 = 410;

/// The line to the host.
#[derive(Debug)]
pub struct Line {
    dialer: Dialer,
    redial: Redial,
    tether: Tether,
    /// Whether there ever was a connection.
    connected: bool,
}

/// How a line ended.
#[derive(Debug)]
pub enum Ending {
    /// The session has ended, and the host has heard all of it.
    Done,
    /// The host hung up.
    HungUp,
    /// The host could not be reached any more.
    GivenUp {
        /// How often it was dialed in vain.
        attempts: u32,
        /// What was wrong the last time.
        trouble: Trouble,
        /// Whether it was ever reached.
        connected: bool,
    },
}

/// What was wrong with a connection.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// There was none.
    #[error(transparent)]
    Dial(DialError),
    /// There was one, and it was lost.
    #[error(transparent)]
    Lost(Lost),
}

impl Line {
    pub(crate) fn new(dialer: Dialer, redial: Redial, tether: Tether) -> Self {
        Self { dialer, redial, tether, connected: false }
    }

    /// Keeps the line until the session has ended and all it had to say was heard, or cannot be.
    pub async fn keep(mut self) -> Ending {
        let ending = self.connect().await;
        // For the session this is the end of its input. What it still says, nobody hears.
        self.tether.end_input();
        self.tether.hear_out().await;
        ending
    }

    async fn connect(&mut self) -> Ending {
        let mut tries = Tries::default();
        loop {
            let trouble = match self.dial().await {
                Err(DialError::Refused(GONE)) if self.connected => return Ending::HungUp,
                Err(error @ DialError::Refused(GONE)) => {
                    let (attempts, trouble) = (tries.attempts(), Trouble::Dial(error));
                    return Ending::GivenUp { attempts, trouble, connected: false };
                }
                Err(error) => Trouble::Dial(error),
                Ok(socket) => {
                    self.connected = true;
                    let (before, activity) = (self.tether.progress(), socket.activity());
                    let parting = self.tether.hold(socket, self.redial.keep_alive).await;
                    let is_fruitful = self.tether.progress() > before;
                    // A server that lets everybody in and nobody stay is no server.
                    let is_lasting = activity.lasted() >= self.redial.lasting;
                    tries.lost(match (is_fruitful, is_lasting) {
                        (true, _) => Worth::Fruitful,
                        (false, true) => Worth::Lasting,
                        (false, false) => Worth::Nothing,
                    });
                    match parting {
                        Parting::Done => return Ending::Done,
                        Parting::HungUp => return Ending::HungUp,
                        Parting::Lost(lost) => Trouble::Lost(lost),
                    }
                }
            };
            let attempts = tries.attempts();
            tracing::warn!(%trouble, attempts, address = %self.dialer.address, "no connection");
            if self.tether.is_done() {
                return Ending::Done;
            }
            let Some(wait) = tries.again(&self.redial) else {
                return Ending::GivenUp { attempts, trouble, connected: self.connected };
            };
            self.tether.meanwhile(time::sleep(wait)).await;
        }
    }

    async fn dial(&mut self) -> Result<bowline_websocket::Socket, DialError> {
        // A host that does not know us yet has missed nothing.
        let last_said = self.tether.last_said().filter(|_| self.connected);
        let dialer = self.dialer.clone();
        self.tether.meanwhile(async { dialer.dial(last_said.as_deref()).await }).await
    }
}
