//! A repository whose worktrees are created and removed one at a time.
//!
//! `git worktree add` reads the administrative files of all other worktrees and fails on one that another git is
//! just creating (`failed to read .git/worktrees/…/commondir`). Within this process a lock for each repository
//! prevents that; against other processes, and git's own lock files, commands are retried with a backoff.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{Mutex as AsyncMutex, OwnedMutexGuard},
    time::sleep,
};

use super::git::{READ_DEADLINE, WRITE_DEADLINE, common_dir, git};

/// The locks in use, by the git directory that all worktrees of a repository share. Static, because sessions of
/// one process know nothing of each other.
static LOCKS: LazyLock<Mutex<HashMap<PathBuf, Weak<AsyncMutex<()>>>>> =
    LazyLock::new(Mutex::default);

/// How often a command is retried, and the pause before the first retry, which doubles each time: about three
/// seconds in all.
const MAX_RETRIES: u32 = 7;
const FIRST_PAUSE: Duration = Duration::from_millis(25);

/// Parts of the errors that git reports when another git works on the same repository.
const CONTENTION: &[&[&str]] = &[
    &["failed to read", "commondir"],
    &["failed to read", "gitdir"],
    &["unable to create", ".lock"],
    &["could not lock"],
    &["cannot lock"],
];

/// Exclusive access, within this process, to the list of worktrees of a repository.
#[derive(Debug)]
pub(super) struct LockedRepository {
    top_level: PathBuf,
    _lock: OwnedMutexGuard<()>,
}

impl LockedRepository {
    /// Waits until no other task creates or removes worktrees of the repository.
    pub(super) async fn acquire(top_level: &Path) -> Self {
        let key = common_dir(top_level).await.unwrap_or_else(|| top_level.to_owned());
        let lock = lock_of(key).lock_owned().await;
        Self { top_level: top_level.to_owned(), _lock: lock }
    }

    /// Checks out the current commit in the folder `path`, on a new branch.
    pub(super) async fn add_worktree(&self, path: &Path, branch: &str) -> Result<(), String> {
        let path = path.to_string_lossy();
        let add = |option| ["worktree", "add", "--quiet", option, branch, &*path, "HEAD"];
        // An attempt that failed may have left its branch.
        self.git(&add("-b"), &add("-B"), WRITE_DEADLINE).await
    }

    /// Removes an unchanged worktree and its branch.
    pub(super) async fn remove_worktree(&self, path: &Path, branch: &str) -> Result<(), String> {
        self.remove(&["worktree", "remove", &path.to_string_lossy()], branch).await
    }

    /// Removes a worktree and its branch, even if git has not finished creating it.
    pub(super) async fn discard_worktree(&self, path: &Path, branch: &str) -> Result<(), String> {
        // Git locks a worktree that it is still filling; a second --force overrides the lock.
        let remove = ["worktree", "remove", "--force", "--force", &path.to_string_lossy()];
        self.remove(&remove, branch).await
    }

    async fn remove(&self, remove: &[&str], branch: &str) -> Result<(), String> {
        self.git(remove, remove, WRITE_DEADLINE).await?;
        let delete = ["branch", "--quiet", "-D", branch];
        self.git(&delete, &delete, READ_DEADLINE).await
    }

    /// Runs git with the arguments `first`, and with `again` as long as another git is in its way.
    async fn git(&self, first: &[&str], again: &[&str], deadline: Duration) -> Result<(), String> {
        let mut retries = Retries::default();
        let mut arguments = first;
        loop {
            let Err(error) = git(&self.top_level, arguments, deadline).await else { return Ok(()) };
            let Some(pause) = retries.pause_after(&error) else { return Err(error) };
            tracing::debug!(%error, ?pause, "git is retried");
            sleep(pause).await;
            arguments = again;
        }
    }
}

fn lock_of(key: PathBuf) -> Arc<AsyncMutex<()>> {
    let mut locks = LOCKS.lock();
    if let Some(lock) = locks.get(&key).and_then(Weak::upgrade) {
        return lock;
    }
    locks.retain(|_, lock| lock.strong_count() > 0);
    let lock = Arc::new(AsyncMutex::new(()));
    locks.insert(key, Arc::downgrade(&lock));
    lock
}

/// The retries of one command.
#[derive(Debug, Default)]
struct Retries {
    done: u32,
}

impl Retries {
    /// The pause before the next attempt; `None` if the error is final or was there too often.
    fn pause_after(&mut self, error: &str) -> Option<Duration> {
        if !is_contention(error) || self.done == MAX_RETRIES {
            return None;
        }
        let pause = FIRST_PAUSE * 2_u32.pow(self.done);
        self.done += 1;
        Some(pause)
    }
}

fn is_contention(error: &str) -> bool {
    let error = error.to_lowercase();
    CONTENTION.iter().any(|parts| parts.iter().all(|part| error.contains(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_another_git_are_contention() {
        for error in [
            "fatal: failed to read .git/worktrees/agent-1/commondir: Success",
            "fatal: Unable to create '/r/.git/index.lock': File exists.",
            "error: could not lock config file .git/config: File exists",
            "fatal: cannot lock ref 'refs/heads/w': Unable to create '/r/.git/refs/heads/w.lock'",
        ] {
            assert!(is_contention(error), "{error}");
        }
        for error in ["fatal: a branch named 'w' already exists", "fatal: invalid reference: HEAD"]
        {
            assert!(!is_contention(error), "{error}");
        }
    }

    #[test]
    fn contention_is_retried_a_bounded_number_of_times() {
        let mut retries = Retries::default();
        let error = "fatal: failed to read .git/worktrees/x/commondir: Success";
        let pauses: Vec<_> = std::iter::from_fn(|| retries.pause_after(error)).collect();
        assert_eq!(pauses.len() as u32, MAX_RETRIES);
        assert!(pauses.is_sorted() && pauses.iter().sum::<Duration>() < Duration::from_secs(4));
    }

    #[test]
    fn other_errors_are_not_retried() {
        assert_eq!(Retries::default().pause_after("fatal: invalid reference: HEAD"), None);
    }

    #[test]
    fn locks_are_shared_and_forgotten() {
        let key = || PathBuf::from("/some/repository/.git");
        let first = lock_of(key());
        assert!(Arc::ptr_eq(&first, &lock_of(key())));
        drop(first);
        lock_of(PathBuf::from("/another/.git"));
        assert!(!LOCKS.lock().contains_key(&key()));
    }
}
