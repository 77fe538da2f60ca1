//! The signals that end a session.

use std::{io, process::ExitCode};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// How somebody wants us to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Ctrl-C: finish what can be finished at once.
    Interrupt,
    /// End.
    Terminate,
    /// The terminal is gone: end.
    HangUp,
}

impl Stop {
    /// What the process says about its end.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Interrupt => ExitCode::SUCCESS,
            // By convention 128 and the number of the signal.
            Self::Terminate => ExitCode::from(128 + 15),
            Self::HangUp => ExitCode::from(128 + 1),
        }
    }
}

/// Listens for signals. While it does, they no longer kill the process.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// The next signal.
    ///
    /// Cancel safety: no signal is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> Stop {
        tokio::select! {
            _ = self.terminate.recv() => Stop::Terminate,
            _ = self.hang_up.recv() => Stop::HangUp,
            _ = self.interrupt.recv() => Stop::Interrupt,
        }
    }
}
