//! `bowline rpc`: sessions for a script, as JSON-RPC.

use std::{process::ExitCode, sync::Arc};

use bowline_door_rpc::Door;
use tokio_util::sync::CancellationToken;

use crate::{
    args::DoorArgs, pipes, serving::until_stopped, sessions::UserSessions, signals::Signals,
};

/// Serves the script until it closes stdin.
pub(crate) async fn run(args: DoorArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let sessions = Arc::new(UserSessions::new(args, "sdk-cli")?);
    let door = Door::open(pipes::stdin(), pipes::stdout(), sessions);
    let stop = CancellationToken::new();
    let (served, code) = until_stopped(door.serve(stop.clone()), &stop, &mut signals).await;
    served.transpose()?;
    Ok(code)
}
