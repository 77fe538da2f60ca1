//! A session for the program that started us, over stdin and stdout.

use std::{pin::pin, process::ExitCode, time::Duration};

use bowline_door_stdio::{Door, Opening};
use bowline_engine::{Session, SessionEnd};
use serde_json::json;
use tokio::time::{self, Instant};
use uuid::Uuid;

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
    let door = Door::open(tokio::io::stdin(), tokio::io::stdout(), opening);
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
                (Ok(end), None) => exit_code(end),
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

/// The result of a session that could not be started.
pub(crate) fn failed_start(session: &str, why: &str) -> String {
    json!({
        "type": "result", "subtype": "error_during_execution", "is_error": true,
        "duration_ms": 0, "duration_api_ms": 0, "num_turns": 0, "stop_reason": null,
        "session_id": session, "total_cost_usd": 0,
        "usage": {
            "input_tokens": 0, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "output_tokens": 0,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
        },
        "modelUsage": {}, "permission_denials": [], "uuid": Uuid::new_v4().to_string(),
        "errors": [why], "result_index": 0,
    })
    .to_string()
}
