//! Concurrent creation and removal of worktrees.

use std::{
    fs,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tempfile::TempDir;
use tokio::task::JoinSet;

use super::*;

/// How many are created at once.
const MANY: usize = 20;

#[expect(clippy::disallowed_methods, reason = "tests start programs")]
fn git(directory: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.current_dir(directory).args(["-c", "user.name=n", "-c", "user.email=e@example.org"]);
    command.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap().status.success()
}

/// A repository with one commit.
fn repository() -> TempDir {
    let folder = TempDir::new().unwrap();
    assert!(git(folder.path(), &["init", "-q", "-b", "main", "."]));
    fs::write(folder.path().join("file.txt"), "old\n").unwrap();
    assert!(git(folder.path(), &["add", "."]));
    assert!(git(folder.path(), &["commit", "-qm", "first"]));
    folder
}

/// Creates many worktrees at once from different folders of one repository, then removes them at once.
async fn create_and_remove(repository: &TempDir) {
    let below = repository.path().join("below");
    fs::create_dir_all(&below).unwrap();
    let mut creating = JoinSet::new();
    for number in 0..MANY {
        let from = if number % 2 == 0 { repository.path().to_owned() } else { below.clone() };
        creating.spawn(async move {
            let name = format!("agent-{number}");
            Worktree::create_with_git(&name, &from, &CancellationToken::new()).await
        });
    }
    let created: Result<Vec<_>, String> = creating.join_all().await.into_iter().collect();
    let created = created.unwrap();
    assert!(created.iter().all(|worktree| worktree.path.join("file.txt").exists()));
    let mut removing = JoinSet::new();
    for worktree in created {
        removing.spawn(async move {
            let Origin::Git { top_level, branch } = &worktree.origin else { panic!("not git's") };
            let repository = LockedRepository::acquire(top_level).await;
            repository.remove_worktree(&worktree.path, branch).await.unwrap();
            assert!(!worktree.path.exists());
        });
    }
    removing.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twenty_worktrees_are_created_and_removed_at_once() {
    create_and_remove(&repository()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn worktrees_are_created_beside_another_process_that_does_the_same() {
    let repository = repository();
    let stop = Arc::new(AtomicBool::new(false));
    let other = thread::spawn({
        let (folder, stop) = (repository.path().to_owned(), stop.clone());
        move || {
            // It has no lock of ours and no retries, so its failures do not matter.
            let mut made = 0;
            while !stop.load(Ordering::Relaxed) {
                let add = ["worktree", "add", "-q", "-f", "-B", "foreign", "foreign", "HEAD"];
                made += usize::from(git(&folder, &add));
                git(&folder, &["worktree", "remove", "--force", "foreign"]);
            }
            made
        }
    });
    create_and_remove(&repository).await;
    stop.store(true, Ordering::Relaxed);
    assert!(other.join().unwrap() > 0, "the other process created none");
}
