//! A session for the program that started us, over stdin and stdout.

use std::process::ExitCode;

use bowline_door_stdio::Opening;
use bowline_engine::Session;

use crate::{
    args::{OutputArgs, RunArgs},
    complain, remote_log,
    serving::{Served, exit_code, until_over},
    setup::{Prepared, SetupError},
    signals::Signals,
};

/// Serves the host until the session is over.
pub(crate) async fn run(prepared: Prepared, args: &RunArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let opening = opening(&args.output);
    let door = bowline_door_stdio::open(tokio::io::stdin(), tokio::io::stdout(), opening);
    let silencer = door.silencer();
    let host = remote_log::watch(door.host(), prepared.remote_log, args, &mut signals);
    let (session, work) = Session::start(prepared.config, host).map_err(SetupError::from)?;
    let served = door.serve(session.clone(), work);
    Ok(match until_over(served, &session, &silencer, signals).await {
        Served::Over(Err(error)) | Served::Stopped(Err(error), _) => {
            complain(error);
            ExitCode::FAILURE
        }
        Served::Over(Ok(end)) => exit_code(end),
        Served::Stopped(Ok(_), stop) | Served::Late(stop) => stop.exit_code(),
    })
}

/// What the host promised about its first line.
pub(crate) fn opening(args: &OutputArgs) -> Opening {
    match args.await_initialize {
        true => Opening::InitializeFirst,
        false => Opening::Free,
    }
}
