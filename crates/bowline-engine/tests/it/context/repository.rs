//! State of the git repository in the model's context.

use std::{path::Path, process::Command};

use super::write;
use crate::{request_log::RequestLog, rig::Rig};

fn git(folder: &Path, args: &[&str]) {
    let status = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .status();
    assert!(status.unwrap().success(), "git {args:?}");
}

#[tokio::test]
async fn the_branch_is_known_at_once_and_changes_with_the_first_result() {
    let log = RequestLog::default();
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--initial-branch=trunk"]);
    write(folder.path(), "new.txt", "new");
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    rig.run("TOOL Bash {\"command\": \"true\"}\nNEXT\nSAY done").await;
    let requests = log.requests();
    assert!(requests[0].system[1].text.contains("on branch trunk"));
    assert_eq!(requests[0].messages[0].content.len(), 1, "nothing but the prompt");
    let received = log.conversation();
    let status =
        received.iter().find(|it| it.contains("Git status")).expect("the status is in the context");
    assert!(status.contains("?? new.txt"), "{status}");
    rig.run("TOOL Bash {\"command\": \"true\"}\nNEXT\nSAY done").await;
    let again = log.conversation();
    assert_eq!(again.iter().filter(|it| it.contains("Git status")).count(), 1, "once");
}

#[tokio::test]
async fn turn_without_tools_does_not_run_git() {
    let log = RequestLog::default();
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--initial-branch=trunk"]);
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    rig.run("SAY one").await;
    rig.run("SAY two").await;
    assert!(log.conversation().iter().all(|it| !it.contains("Git status")));
}

/// Git passes changed files through the filters that a repository names. No user has approved those.
#[tokio::test]
async fn git_status_runs_no_filters_of_the_repository() {
    let log = RequestLog::default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    git(&path, &["init", "--quiet", "--initial-branch=trunk"]);
    write(&path, "file.txt", "old");
    git(&path, &["add", "."]);
    let ran = path.join("ran");
    let program = format!("touch '{}'; cat", ran.display());
    git(&path, &["config", "filter.f.clean", &program]);
    git(&path, &["config", "filter.f.required", "true"]);
    write(&path, ".git/info/attributes", "*.txt filter=f");
    write(&path, "file.txt", "new");
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    rig.run("TOOL Read {\"file_path\": \"file.txt\"}\nNEXT\nSAY done").await;
    let received = log.conversation().join("\n");
    assert!(received.contains("AM file.txt"), "{received}");
    assert!(!ran.exists());
    git(&path, &["status", "--short"]);
    assert!(ran.exists(), "the filter works when git is asked by a person");
}
