//! Starting the agent's process.

use std::{path::PathBuf, process::Stdio};

use bowline_process::{group_command, set_variables};
use bowline_protocol::Initialize;
use tokio::process::{Child, Command};

use super::{locate::locate, version::can_await_initialize};
use crate::{
    Error, Options, Resume,
    options::arguments::{arguments, variables},
};

/// Has an agent do nothing before it has received `initialize`.
///
/// The official one makes a call that was put off as soon as it has read the session, and neither
/// calls our hooks nor finds our tools if it has not received them by then.
const AWAIT_INITIALIZE: &str = "--await-initialize";

/// Starts the process, its three streams piped. `opening` will be sent to it first.
pub(super) async fn start(options: &Options, opening: &Initialize) -> Result<Child, Error> {
    let (program, mut command) = command(options)?;
    let arguments = arguments(options)?;
    let is_set_already = arguments.iter().any(|it| it == AWAIT_INITIALIZE);
    command.args(arguments);
    // Only where it matters is it worth the start of a process to learn whether the agent can wait.
    let tells_of_us = opening.hooks.as_ref().is_some() || opening.sdk_mcp_servers.is_some();
    let matters = options.resume != Resume::No && tells_of_us;
    if matters && !is_set_already && can_await_initialize(options).await {
        command.arg(AWAIT_INITIALIZE);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = match &options.process.spawner {
        Some(spawner) => spawner.spawn(command),
        None => command.spawn(),
    };
    child.map_err(|error| Error::connection(format!("starting {}", program.display()), error))
}

/// Where the agent's program is.
pub(crate) fn program(options: &Options) -> Result<PathBuf, Error> {
    // A runner or spawner may find it where we cannot look.
    let theirs = !options.process.cli_runner.is_empty() || options.process.spawner.is_some();
    match &options.process.cli_path {
        Some(path) if theirs => Ok(path.clone()),
        path => locate(path.as_deref()),
    }
}

/// The program in its surroundings, without arguments. It dies with us.
pub(super) fn command(options: &Options) -> Result<(PathBuf, Command), Error> {
    let program = program(options)?;
    let mut command = match &options.process.cli_runner[..] {
        [] => group_command(&program),
        [runner, arguments @ ..] => {
            let mut command = group_command(runner);
            command.args(arguments).arg(&program);
            command
        }
    };
    if let Some(user) = &options.process.user {
        let what = "finding the user to run as";
        let (user, group) = user.ids().map_err(|error| Error::connection(what, error))?;
        command.uid(user).gid(group);
    }
    if options.process.clear_env {
        command.env_clear();
    }
    set_variables(&mut command, &variables(options));
    if let Some(cwd) = &options.cwd {
        command.current_dir(cwd);
    }
    Ok((program, command))
}
