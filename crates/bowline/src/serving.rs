//! Serving of a session or door until it ends or a signal stops it.

use std::{pin::pin, process::ExitCode, time::Duration};

use bowline_doorway::Silencer;
use bowline_engine::{Session, SessionEnd};
use tokio::time::{self, Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    complain,
    signals::{Signals, Stop},
};

/// Grace period of a shutdown. Hosts wait 5 s before they kill.
pub(crate) const GRACE: Duration = Duration::from_secs(4);

/// End of serving a session.
pub(crate) enum Served<T> {
    /// The session ended by itself.
    Over(T),
    /// A signal stopped it.
    Stopped(T, Stop),
    /// A signal stopped it, and the grace period is over.
    Late(Stop),
}

/// Waits until a session has ended, and shuts it down on a signal.
///
/// `session` returns the current session: a claim may have replaced it.
pub(crate) async fn until_over<T>(
    served: impl Future<Output = T>,
    session: impl Fn() -> Session,
    silencer: &Silencer,
    mut signals: Signals,
) -> Served<T> {
    let mut served = pin!(served);
    let mut stopped: Option<(Stop, Instant)> = None;
    loop {
        let (stop, deadline) = stopped.unzip();
        tokio::select! {
            end = &mut served => return match stop.or(signals.pending()) {
                Some(stop) => Served::Stopped(end, stop),
                None => Served::Over(end),
            },
            signal = signals.next() => match signal {
                Stop::Interrupt if stop.is_none() => {
                    session().forget_waiting();
                    session().interrupt();
                    session().end_of_input().await;
                    stopped = Some((signal, Instant::now() + GRACE));
                }
                _ => {
                    silencer.silence();
                    session().shutdown();
                    stopped = Some((stop.unwrap_or(signal), Instant::now() + GRACE));
                }
            },
            Some(stop) = late(stop, deadline) => return Served::Late(stop),
        }
    }
}

/// Waits until a door has ended, and shuts it down on a signal. Returns its result, unless the grace
/// period is over or a second signal came, and the exit code.
pub(crate) async fn until_stopped<T>(
    served: impl Future<Output = T>,
    stop: &CancellationToken,
    signals: &mut Signals,
) -> (Option<T>, ExitCode) {
    let mut served = pin!(served);
    let signal = tokio::select! {
        served = &mut served => return (Some(served), ExitCode::SUCCESS),
        signal = signals.next() => signal,
    };
    stop.cancel();
    let served = tokio::select! {
        served = time::timeout(GRACE, served) => served.ok(),
        _ = signals.next() => None,
    };
    (served, signal.exit_code())
}

/// Waits for the deadline of a shutdown; `None` if none has begun.
async fn late(stop: Option<Stop>, deadline: Option<Instant>) -> Option<Stop> {
    time::sleep_until(deadline?).await;
    stop
}

/// Returns the exit code for the end of a session, and prints the fault that ended it.
pub(crate) fn exit_code(end: SessionEnd) -> ExitCode {
    if let Some(fault) = end.fault {
        complain(format!("Error: {fault}"));
        return ExitCode::FAILURE;
    }
    match end.last_turn_failed {
        Some(true) => ExitCode::FAILURE,
        Some(false) | None => ExitCode::SUCCESS,
    }
}
