//! Constructors of commands: the only ones in the workspace.

use std::{collections::BTreeMap, ffi::OsStr};

use tokio::process::Command;

/// A program in this program's own process group, killed when its `Child` is dropped. For short-lived
/// helpers that start nothing themselves.
#[expect(clippy::disallowed_methods, reason = "this is where commands are made")]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.kill_on_drop(true);
    command
}

/// A program that leads a process group, for a [`ProcessGroup`](crate::ProcessGroup). Signals from a terminal
/// do not reach it.
pub fn group_command(program: impl AsRef<OsStr>) -> Command {
    let mut command = command(program);
    command.process_group(0);
    command
}

/// A program that may outlive this one, such as the user's browser.
#[expect(clippy::disallowed_methods, reason = "this is where commands are made")]
pub fn detached_command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// A program for code without a runtime. Nothing ends it but its caller.
#[expect(clippy::disallowed_methods, reason = "this is where commands are made")]
pub fn blocking_command(program: impl AsRef<OsStr>) -> std::process::Command {
    std::process::Command::new(program)
}

/// Sets variables of a command's environment, and removes those without a value.
pub fn set_variables(command: &mut Command, variables: &BTreeMap<String, Option<String>>) {
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}
