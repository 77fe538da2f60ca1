//! What worktrees need of git. It is asked as a program, and never waited for longer than a while.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use bowline_process::ProcessGroup;
use tokio::time::timeout;

/// How long git may take for a question.
const QUESTION: Duration = Duration::from_secs(10);
/// How long it may take to write or remove a whole tree.
const CHANGE: Duration = Duration::from_secs(120);

/// The top folder of the working tree that holds `directory`.
pub(super) async fn top(directory: &Path) -> Option<PathBuf> {
    let top = git(directory, &["rev-parse", "--show-toplevel"], QUESTION).await.ok()?;
    (!top.is_empty()).then(|| PathBuf::from(top))
}

/// The commit that is checked out.
pub(super) async fn head(directory: &Path) -> Option<String> {
    git(directory, &["rev-parse", "--verify", "HEAD"], QUESTION).await.ok()
}

/// Checks out the newest commit in a folder of its own, on a branch of its own.
pub(super) async fn add_worktree(
    repository: &Path,
    path: &Path,
    branch: &str,
) -> Result<(), String> {
    let path = path.to_string_lossy();
    let add = ["worktree", "add", "--quiet", "-b", branch, &path, "HEAD"];
    git(repository, &add, CHANGE).await.map(drop)
}

/// Takes such a folder and its branch away.
pub(super) async fn remove_worktree(
    repository: &Path,
    path: &Path,
    branch: &str,
) -> Result<(), String> {
    git(repository, &["worktree", "remove", &path.to_string_lossy()], CHANGE).await?;
    git(repository, &["branch", "--quiet", "-D", branch], QUESTION).await.map(drop)
}

/// Takes away what there is of a folder that is not complete.
pub(super) async fn discard_worktree(
    repository: &Path,
    path: &Path,
    branch: &str,
) -> Result<(), String> {
    // Git locks a folder that it is still filling, and a lock takes a second word to overrule.
    let remove = ["worktree", "remove", "--force", "--force", &path.to_string_lossy()];
    git(repository, &remove, CHANGE).await?;
    git(repository, &["branch", "--quiet", "-D", branch], QUESTION).await.map(drop)
}

/// Whether a folder holds exactly what it began with. Ignored files do not count.
pub(super) async fn is_unchanged(path: &Path, base: &str) -> bool {
    let status = git(path, &["status", "--porcelain"], CHANGE).await;
    status.is_ok_and(|changes| changes.is_empty()) && head(path).await.as_deref() == Some(base)
}

/// Asks git something; its answer, or what it complains about.
async fn git(directory: &Path, words: &[&str], limit: Duration) -> Result<String, String> {
    let output = timeout(limit, output(directory, words))
        .await
        .map_err(|_| format!("git {} takes too long", words.join(" ")))?
        .map_err(|error| format!("git cannot be run: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Runs git to its end. Dropped, it takes with it what git has started.
async fn output(directory: &Path, words: &[&str]) -> io::Result<Output> {
    let mut command = crate::git::command(directory).await;
    command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn()?;
    let group = ProcessGroup::led_by(&child)?;
    let output = child.wait_with_output().await;
    group.release();
    output
}
