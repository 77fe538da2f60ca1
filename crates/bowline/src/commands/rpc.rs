//! `bowline rpc`: sessions for a script, as JSON-RPC.

use std::{pin::pin, process::ExitCode, sync::Arc};

use bowline_door_rpc::Door;
use tokio_util::sync::CancellationToken;

use crate::{args::DoorArgs, sessions::UserSessions, signals::Signals};

/// Serves the script until it hangs up.
pub(crate) async fn run(args: DoorArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let sessions = Arc::new(UserSessions::new(args, "sdk-cli")?);
    let door = Door::open(tokio::io::stdin(), tokio::io::stdout(), sessions);
    let stop = CancellationToken::new();
    let mut served = pin!(door.serve(stop.clone()));
    tokio::select! {
        served = &mut served => {
            served?;
            Ok(ExitCode::SUCCESS)
        }
        signal = signals.next() => {
            stop.cancel();
            served.await?;
            Ok(signal.exit_code())
        }
    }
}
