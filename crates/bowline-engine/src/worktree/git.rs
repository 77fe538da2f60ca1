//! Runs git for worktrees, each time with a deadline.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use bowline_process::ProcessGroup;
use tokio::time::timeout;

/// Deadline of a command that only reads.
pub(super) const READ_DEADLINE: Duration = Duration::from_secs(10);
/// Deadline of a command that writes or removes a whole tree.
pub(super) const WRITE_DEADLINE: Duration = Duration::from_secs(120);

/// The top-level folder of the working tree that contains `directory`.
pub(super) async fn top_level(directory: &Path) -> Option<PathBuf> {
    let top = git(directory, &["rev-parse", "--show-toplevel"], READ_DEADLINE).await.ok()?;
    (!top.is_empty()).then(|| PathBuf::from(top))
}

/// The git directory that all worktrees of a repository share.
pub(super) async fn common_dir(directory: &Path) -> Option<PathBuf> {
    let common = git(directory, &["rev-parse", "--git-common-dir"], READ_DEADLINE).await.ok()?;
    // Git prints it relative to the folder in which it runs.
    directory.join(common).canonicalize().ok()
}

/// The commit that is checked out.
pub(super) async fn head(directory: &Path) -> Option<String> {
    git(directory, &["rev-parse", "--verify", "HEAD"], READ_DEADLINE).await.ok()
}

/// Whether a worktree has neither changed files nor commits since `base`. Ignored files do not matter.
pub(super) async fn is_unchanged(path: &Path, base: &str) -> bool {
    let status = git(path, &["status", "--porcelain"], WRITE_DEADLINE).await;
    status.is_ok_and(|changes| changes.is_empty()) && head(path).await.as_deref() == Some(base)
}

/// Runs git and returns its trimmed output, or what it printed as its error.
pub(super) async fn git(
    directory: &Path,
    arguments: &[&str],
    deadline: Duration,
) -> Result<String, String> {
    let output = timeout(deadline, output(directory, arguments))
        .await
        .map_err(|_| {
            let command = arguments.join(" ");
            format!("`git {command}` did not finish within {} seconds", deadline.as_secs())
        })?
        .map_err(|error| format!("git could not be started: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Runs git to its end. Dropping the future kills git and all processes that it has started.
async fn output(directory: &Path, arguments: &[&str]) -> io::Result<Output> {
    let mut command = crate::git::command(directory).await;
    command
        .args(arguments)
        // Errors are matched by their English text.
        .env("LC_ALL", "C")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let child = command.spawn()?;
    let group = ProcessGroup::led_by(&child)?;
    let output = child.wait_with_output().await;
    group.release();
    output
}
