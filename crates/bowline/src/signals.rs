//! Signals that end a session, and the loss of its remote log.

use std::{io, process::ExitCode};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cause of a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// SIGINT (Ctrl-C): interrupt the turn, then exit.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal was closed.
    HangUp,
    /// Messages can no longer be stored in the remote log.
    LogLost,
}

impl Stop {
    /// The exit code of the process.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Interrupt => ExitCode::SUCCESS,
            // By convention 128 and the number of the signal.
            Self::Terminate => ExitCode::from(128 + 15),
            Self::HangUp => ExitCode::from(128 + 1),
            Self::LogLost => ExitCode::FAILURE,
        }
    }
}

/// Receiver of signals. While it exists, they do not kill the process.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    log_lost: Option<CancellationToken>,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            log_lost: None,
        })
    }

    /// Also stops, once, when `lost` fires.
    pub(crate) fn stop_when(&mut self, lost: CancellationToken) {
        self.log_lost = Some(lost);
    }

    /// A loss of the log that [`next`](Self::next) has not returned yet: a session may end before its
    /// last message fails to be stored.
    pub(crate) fn pending(&self) -> Option<Stop> {
        self.log_lost.as_ref().filter(|lost| lost.is_cancelled()).map(|_| Stop::LogLost)
    }

    /// The next signal.
    ///
    /// Cancel safety: no signal is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> Stop {
        let log_lost = async {
            match &self.log_lost {
                Some(lost) => lost.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = log_lost => {
                self.log_lost = None;
                Stop::LogLost
            }
            _ = self.terminate.recv() => Stop::Terminate,
            _ = self.hang_up.recv() => Stop::HangUp,
            _ = self.interrupt.recv() => Stop::Interrupt,
        }
    }
}
