//! A session for the program that started us, over stdin and stdout.

use std::{pin::pin, process::ExitCode, time::Duration};

use bowline_door_stdio::Opening;
use bowline_engine::{Session, SessionEnd};
use tokio::time::{self, Instant};

use crate::{
    args::RunArgs,
    complain, remote_log,
    setup::{Prepared, SetupError},
    signals::{Signals, Stop},
};

/// How long a session that was told to stop may take. Hosts wait 5 s before they kill.
const GRACE: Duration = Duration::from_secs(4);

/// Serves the host until the session is over.
pub(crate) async fn run(prepared: Prepared, args: &RunArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let opening = match args.output.await_initialize {
        true => Opening::InitializeFirst,
        false => Opening::Free,
    };
    let door = bowline_door_stdio::open(tokio::io::stdin(), tokio::io::stdout(), opening);
    let silencer = door.silencer();
    let host = remote_log::watch(door.host(), prepared.remote_log, args, &mut signals);
    let (session, work) = Session::start(prepared.config, host).map_err(SetupError::from)?;
    let mut served = pin!(door.serve(session.clone(), work));
    let mut stopped: Option<(Stop, Instant)> = None;
    loop {
        let (stop, deadline) = stopped.unzip();
        tokio::select! {
            end = &mut served => return Ok(match (end, stop) {
                (Err(error), _) => {
                    complain(error);
                    ExitCode::FAILURE
                }
                (Ok(_), Some(stop)) => stop.exit_code(),
                (Ok(end), None) => signals.unheard().map_or(exit_code(end), Stop::exit_code),
            }),
            signal = signals.next() => match signal {
                Stop::Interrupt if stop.is_none() => {
                    session.interrupt();
                    session.end_of_input().await;
                    stopped = Some((signal, Instant::now() + GRACE));
                }
                _ => {
                    silencer.silence();
                    session.shutdown();
                    stopped = Some((stop.unwrap_or(signal), Instant::now() + GRACE));
                }
            },
            Some(stop) = late(stop, deadline) => return Ok(stop.exit_code()),
        }
    }
}

/// Waits until a session that was told to stop is late; `None` if it was not told.
async fn late(stop: Option<Stop>, deadline: Option<Instant>) -> Option<Stop> {
    time::sleep_until(deadline?).await;
    stop
}

/// What the end of a session means to whoever started us.
pub(crate) fn exit_code(end: SessionEnd) -> ExitCode {
    match end.last_turn_failed {
        Some(true) => ExitCode::FAILURE,
        Some(false) | None => ExitCode::SUCCESS,
    }
}
