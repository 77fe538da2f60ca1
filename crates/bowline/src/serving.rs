//! A session that is served, until it is over or somebody wants us to stop.

use std::{pin::pin, process::ExitCode, time::Duration};

use bowline_door_stdio::Silencer;
use bowline_engine::{Session, SessionEnd};
use tokio::time::{self, Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    complain,
    signals::{Signals, Stop},
};

/// How long a session that was told to stop may take. Hosts wait 5 s before they kill.
pub(crate) const GRACE: Duration = Duration::from_secs(4);

/// How the serving of a session ended.
pub(crate) enum Served<T> {
    /// By itself.
    Over(T),
    /// Because we were told to stop.
    Stopped(T, Stop),
    /// Because we were told to stop, and it took too long.
    Late(Stop),
}

/// Waits until a session was served, and stops it if a signal says so.
///
/// `session` says which one it is: another one may have taken its place.
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
            end = &mut served => return match stop.or(signals.unheard()) {
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

/// Waits until a door was served, and stops it if a signal says so: what it came to, unless that
/// took too long or a second signal came, and what to exit with.
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

/// Waits until a session that was told to stop is late; `None` if it was not told.
async fn late(stop: Option<Stop>, deadline: Option<Instant>) -> Option<Stop> {
    time::sleep_until(deadline?).await;
    stop
}

/// What the end of a session means to whoever started us. If it could not go on, they hear why.
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
