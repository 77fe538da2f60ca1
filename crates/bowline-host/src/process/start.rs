//! Starting the agent's process.

use std::{path::PathBuf, process::Stdio};

use tokio::process::{Child, Command};

use super::locate::locate;
use crate::{
    Error, Options,
    options::arguments::{arguments, variables},
};

/// Starts the process, its three streams piped.
pub(super) fn start(options: &Options) -> Result<Child, Error> {
    let (program, mut command) = command(options)?;
    command.args(arguments(options)?);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
        .spawn()
        .map_err(|error| Error::connection(format!("starting {}", program.display()), error))
}

/// The program in its surroundings, without arguments. It dies with us.
pub(super) fn command(options: &Options) -> Result<(PathBuf, Command), Error> {
    let program = locate(options.cli_path.as_deref())?;
    let mut command = Command::new(&program);
    if options.clear_env {
        command.env_clear();
    }
    for (name, value) in variables(options) {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(cwd) = &options.cwd {
        command.current_dir(cwd);
    }
    command.kill_on_drop(true);
    command.process_group(0);
    Ok((program, command))
}
