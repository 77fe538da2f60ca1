//! What worktrees need of git. It is asked as a program, and never waited for longer than a while.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{process::Command, time::timeout};

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

/// Whether a folder holds exactly what it began with. Ignored files do not count.
pub(super) async fn is_unchanged(path: &Path, base: &str) -> bool {
    let status = git(path, &["status", "--porcelain"], CHANGE).await;
    status.is_ok_and(|changes| changes.is_empty()) && head(path).await.as_deref() == Some(base)
}

/// Asks git something; its answer, or what it complains about.
async fn git(directory: &Path, words: &[&str], limit: Duration) -> Result<String, String> {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(directory)
        // Nobody has agreed to run what the repository names.
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(words)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let ended = timeout(limit, command.output()).await;
    let output = ended
        .map_err(|_| format!("git {} takes too long", words.join(" ")))?
        .map_err(|error| format!("git cannot be run: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
