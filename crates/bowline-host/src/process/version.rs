//! Version of the agent's program, from its `--version`.

use std::{process::Stdio, time::Duration};

use tokio::time;

use super::start::command;
use crate::{Options, version::Version};

/// How long a program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the program takes `--await-initialize`. One that does not know it would not start.
pub(super) async fn can_await_initialize(options: &Options) -> bool {
    let version = installed_version(options).await;
    let version = version.as_deref().and_then(Version::read);
    version.is_some_and(|version| version >= Version::AWAITS_INITIALIZE)
}

/// The version that the program prints, if any. Only for agents that give reason to
/// check: it costs the start of a process.
pub(crate) async fn installed_version(options: &Options) -> Option<String> {
    if options.process.spawner.is_some() {
        // The spawner may run it on another machine.
        return None;
    }
    let (_, mut command) = command(options).ok()?;
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null());
    let output = time::timeout(PATIENCE, command.output()).await.ok()?.ok()?;
    // As in `2.1.325 (Claude Code)`.
    let text = String::from_utf8_lossy(&output.stdout);
    let is_version =
        |word: &&str| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.');
    text.split_whitespace().find(is_version).map(str::to_owned)
}
