//! Connection loop to the host: dials, carries lines, reconnects with backoff.

use bowline_websocket::{ConnectionLost, DialError, Dialer, Disconnect, ResumableLink};
use tokio::time;

use crate::reconnect_policy::{Attempts, ConnectionQuality, ReconnectPolicy};

/// HTTP status of a session that is over for good.
const GONE: u16 = 410;

/// The connection loop of one session to its host.
#[derive(Debug)]
pub struct Reconnector {
    dialer: Dialer,
    policy: ReconnectPolicy,
    resumable: ResumableLink,
    /// Whether there ever was a connection.
    connected: bool,
}

/// How the connection to the host ended.
#[derive(Debug)]
pub enum ConnectionEnd {
    /// The session has ended, and the host has acknowledged all of it.
    Done,
    /// The host closed the session.
    Closed,
    /// The host could not be reached within the allowed attempts.
    AttemptsExhausted {
        /// The number of attempts without progress.
        attempts: u32,
        /// Why the last one failed.
        failure: ConnectionFailure,
        /// Whether there ever was a connection.
        connected: bool,
    },
}

/// Why an attempt to connect failed.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionFailure {
    /// Dialing failed.
    #[error(transparent)]
    Dial(DialError),
    /// The connection was lost.
    #[error(transparent)]
    Lost(ConnectionLost),
}

impl Reconnector {
    pub(crate) fn new(dialer: Dialer, policy: ReconnectPolicy, resumable: ResumableLink) -> Self {
        Self { dialer, policy, resumable, connected: false }
    }

    /// Runs until the session has ended and its output is acknowledged, or the host is lost.
    pub async fn run(mut self) -> ConnectionEnd {
        let ending = self.connect().await;
        // For the session this is the end of its input. What it still sends is discarded.
        self.resumable.end_input();
        self.resumable.drain_output().await;
        ending
    }

    async fn connect(&mut self) -> ConnectionEnd {
        let mut attempts_made = Attempts::default();
        loop {
            let failure = match self.dial().await {
                Err(DialError::Refused(GONE)) if self.connected => return ConnectionEnd::Closed,
                Err(error @ DialError::Refused(GONE)) => {
                    let (attempts, failure) =
                        (attempts_made.attempts(), ConnectionFailure::Dial(error));
                    return ConnectionEnd::AttemptsExhausted {
                        attempts,
                        failure,
                        connected: false,
                    };
                }
                Err(error) => ConnectionFailure::Dial(error),
                Ok(socket) => {
                    self.connected = true;
                    let (before, activity) = (self.resumable.progress(), socket.activity());
                    let disconnect = self.resumable.carry(socket, self.policy.keep_alive).await;
                    let is_productive = self.resumable.progress() > before;
                    // A server that accepts connections and drops them at once does not count as reached.
                    let is_stable = activity.lasted() >= self.policy.stable_after;
                    attempts_made.connection_ended(match (is_productive, is_stable) {
                        (true, _) => ConnectionQuality::Productive,
                        (false, true) => ConnectionQuality::Stable,
                        (false, false) => ConnectionQuality::Unstable,
                    });
                    match disconnect {
                        Disconnect::Done => return ConnectionEnd::Done,
                        Disconnect::Closed => return ConnectionEnd::Closed,
                        Disconnect::Lost(lost) => ConnectionFailure::Lost(lost),
                    }
                }
            };
            let attempts = attempts_made.attempts();
            tracing::warn!(%failure, attempts, address = %self.dialer.address, "not connected to the host");
            if self.resumable.is_done() {
                return ConnectionEnd::Done;
            }
            let Some(wait) = attempts_made.next_wait(&self.policy) else {
                return ConnectionEnd::AttemptsExhausted {
                    attempts,
                    failure,
                    connected: self.connected,
                };
            };
            self.resumable.buffer_during(time::sleep(wait)).await;
        }
    }

    async fn dial(&mut self) -> Result<bowline_websocket::Socket, DialError> {
        // A host without an earlier connection has missed nothing.
        let last_sent = self.resumable.last_sent().filter(|_| self.connected);
        let dialer = self.dialer.clone();
        self.resumable.buffer_during(async { dialer.dial(last_sent.as_deref()).await }).await
    }
}
