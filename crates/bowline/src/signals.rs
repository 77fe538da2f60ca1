//! The signals that end a session, and what else does.

use std::{io, process::ExitCode};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How somebody wants us to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Ctrl-C: finish what can be finished at once.
    Interrupt,
    /// End.
    Terminate,
    /// The terminal is gone: end.
    HangUp,
    /// What is said can no longer be stored: end.
    LogLost,
}

impl Stop {
    /// What the process says about its end.
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

/// Listens for signals. While it does, they no longer kill the process.
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

    /// Whether something has happened that nobody has waited for: a session may end before it hears
    /// that its last words were not stored.
    pub(crate) fn unheard(&self) -> Option<Stop> {
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
