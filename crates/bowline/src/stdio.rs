//! A session for the host that started the program, over stdin and stdout.

use std::{io::Cursor, path::PathBuf, process::ExitCode};

use bowline_doorway::{Door, InputError, Opening, Spare};
use bowline_engine::Session;
use tokio::io::AsyncReadExt;

use crate::{
    args::{OutputArgs, RunArgs},
    claims::UserClaims,
    complain,
    environment::Environment,
    first_line::FirstLine,
    pipes::{self, Input},
    remote_log,
    serving::{Served, exit_code, until_over},
    setup::{self, Audience, Prepared, SetupError},
    signals::Signals,
    with_runtime,
};

/// Serves the host until the session is over.
pub(crate) fn run(
    args: &RunArgs,
    environment: &Environment,
    cwd: PathBuf,
) -> anyhow::Result<ExitCode> {
    setup::check_combinations(args)?;
    let first = FirstLine::read(args)?;
    let mut args = args.clone();
    let managed_by_host = first.managed.is_some();
    if managed_by_host {
        args.sources.managed_settings = first.managed;
        args.sources.managed_settings_in_initialize = false;
    }
    let claims = args.output.await_claim.then(|| UserClaims {
        args: args.clone(),
        environment: environment.clone(),
        cwd: cwd.clone(),
        managed_by_host,
    });
    let mut prepared = match &claims {
        Some(claims) => claims.waiting()?,
        None => setup::prepare(&args, environment, cwd, Audience::Host)?,
    };
    prepared.config.managed_by_host = managed_by_host;
    prepared.notices.iter().for_each(complain);
    with_runtime(serve(prepared, &args, first.bytes, claims))
}

async fn serve(
    prepared: Prepared,
    args: &RunArgs,
    first: Vec<u8>,
    claims: Option<UserClaims>,
) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let input: Input = match first.is_empty() {
        true => pipes::stdin(),
        // The standard library may have buffered bytes after that line.
        false => Box::new(Cursor::new(first).chain(tokio::io::stdin())),
    };
    let door = Door::stdio(input, pipes::stdout(), opening(&args.output));
    let silencer = door.silencer();
    let host = remote_log::wrap_host(door.host(), prepared.remote_log, args, &mut signals);
    let started = Session::start(prepared.config, host.clone());
    let (session, work) = started.map_err(SetupError::from)?;
    let served = match claims {
        None => {
            until_over(door.serve(session.clone(), work), || session.clone(), &silencer, signals)
                .await
        }
        Some(claims) => {
            let spare = Spare::new(session, host, claims);
            let served = door.serve_spare(spare.clone(), work);
            until_over(served, || spare.session(), &silencer, signals).await
        }
    };
    Ok(match served {
        Served::Over(Err(error @ InputError::InitializeNotFirst)) => {
            return Err(SetupError::from(error).into());
        }
        Served::Over(Err(error)) | Served::Stopped(Err(error), _) => {
            complain(error);
            ExitCode::FAILURE
        }
        Served::Over(Ok(end)) => exit_code(end),
        Served::Stopped(Ok(_), stop) | Served::Late(stop) => stop.exit_code(),
    })
}

/// What the host announced about its first line.
pub(crate) fn opening(args: &OutputArgs) -> Opening {
    match args.await_initialize {
        true => Opening::InitializeFirst,
        false => Opening::Free,
    }
}
