//! Confined commands: the kernel lets them only read, and `git` runs no program of a repository.

use std::{fs, time::Instant};

use bowline_sandbox::{Confinement, Readable, Support};
use serde_json::json;

use crate::rig::{Rig, eventually};

/// A rig whose commands may read the project only; `None` on a kernel without Landlock.
fn held() -> Option<Rig> {
    if !Support::of_kernel().confines() {
        return None;
    }
    let mut rig = Rig::new();
    let mut confinement = Confinement::default();
    confinement.read(rig.project());
    rig.confinement = Some(confinement);
    rig.file("file", "words\n");
    fs::write(rig.outside().join("secret"), "secret\n").unwrap();
    Some(rig)
}

#[tokio::test]
async fn confined_command_reads_and_changes_nothing() {
    let Some(rig) = held() else { return };
    let text =
        rig.text("Bash", json!({"command": "cat file; cd . && pwd; date > /dev/null"})).await;
    assert_eq!(text, format!("words\n{}", rig.project().display()));
    for command in [
        "cat ../secret",
        "echo x > file",
        "echo x > new",
        "rm file",
        "chmod 777 file",
        "touch -d 2000-01-01 file",
        "exec 3<>/dev/tcp/127.0.0.1/9",
        "echo x > /dev/udp/127.0.0.1/9",
    ] {
        let error = rig.error("Bash", json!({"command": command})).await;
        assert!(error.contains("ran without approval because it only reads"), "{command}: {error}");
    }
    assert_eq!(rig.content("file"), "words\n");
    assert!(!rig.path("new").exists());
}

#[tokio::test]
async fn unrelated_failures_have_no_confinement_note() {
    let Some(rig) = held() else { return };
    let error = rig.error("Bash", json!({"command": "cat missing"})).await;
    assert_eq!(error, "Exit code 1\ncat: missing: No such file or directory");
}

#[tokio::test]
async fn confined_command_may_run_in_the_background() {
    let Some(rig) = held() else { return };
    let input = json!({"command": "cat file; cat ../secret", "run_in_background": true});
    let (_, structured) = rig.ok("Bash", input).await;
    let id = structured["backgroundTaskId"].as_str().unwrap().to_owned();
    let path = rig.outside().join(format!("tasks/{id}.output"));
    let text = || fs::read_to_string(&path).unwrap_or_default();
    eventually("it ends", || text().contains("exited with code 1")).await;
    assert!(text().starts_with("words\n") && text().contains("Permission denied"), "{}", text());
}

#[tokio::test]
async fn confined_command_is_stopped_like_any_other() {
    let Some(mut rig) = held() else { return };
    rig.confinement = Some(Confinement { readable: Readable::Everything, executable: vec![] });
    let input = json!({"command": "cat file; sleep 600", "timeout": 200.0});
    let text = rig.text("Bash", input).await;
    assert!(text.starts_with("words\n") && text.contains("moved to the background"), "{text}");
}

#[tokio::test]
async fn profile_definitions_work_in_a_confined_command() {
    let Some(held) = held() else { return };
    let profile = held.outside().join("profile");
    fs::write(&profile, "alias shout='echo LOUD'\nf() { cat file; }\n").unwrap();
    let mut rig = Rig::options(|options| options.shell_profile = Some(profile));
    let mut confinement = Confinement::default();
    confinement.read(rig.project());
    rig.confinement = Some(confinement);
    rig.file("file", "words\n");
    assert_eq!(rig.text("Bash", json!({"command": "shout; f"})).await, "LOUD\nwords");
}

/// Whether `git` is there; all of the following need it.
fn has_git() -> bool {
    std::process::Command::new("git").arg("--version").output().is_ok()
}

/// A repository with one commit and a change, and a program beside it that leaves a mark.
struct Repository {
    rig: Rig,
    program: String,
    /// What commands that run unasked have in their environment. Here they are confined by nothing else:
    /// the kernel would keep the program from leaving its mark.
    variables: Vec<(String, String)>,
}

impl Repository {
    async fn new() -> Self {
        let mut rig = Rig::with(|setup| {
            for (name, value) in
                [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("HOME", "/x")]
            {
                setup.environment.insert(name.to_owned(), Some(value.to_owned()));
            }
        });
        rig.confinement =
            Some(Confinement { readable: Readable::Everything, executable: Vec::new() });
        let printed = rig.text("Bash", json!({"command": "env"})).await;
        let variables = printed.lines().filter_map(|line| line.split_once('='));
        let variables =
            variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        rig.confinement = None;
        let program = rig.outside().join("program");
        let text =
            format!("#!/bin/sh\necho \"$@\" >> '{}'\n", rig.outside().join("mark").display());
        fs::write(&program, text).unwrap();
        let program = program.display().to_string();
        let setup = format!(
            "chmod +x {program} && git init -q -b main . && git config user.email a@example.org && \
             git config user.name A && echo one > file && git add file && git commit -qm one && \
             echo two > file"
        );
        rig.text("Bash", json!({"command": setup})).await;
        Self { rig, program, variables }
    }

    /// Runs a command as one that a user allowed.
    async fn freely(&self, command: &str) {
        let command = command.replace("PROGRAM", &self.program);
        self.rig.call("Bash", json!({"command": command})).await.ok();
    }

    fn take_mark(&self) -> bool {
        fs::remove_file(self.rig.outside().join("mark")).is_ok()
    }

    /// Whether a command that runs unasked runs the program, although one that somebody allowed does; `None` if
    /// neither does with this version of `git`.
    async fn is_fooled(&self, command: &str) -> Option<bool> {
        self.take_mark();
        let mut unasked = std::process::Command::new("/bin/bash");
        unasked.args(["-c", command]).current_dir(self.rig.project()).env_clear();
        let _ = unasked.envs(self.variables.clone()).output().unwrap();
        if self.take_mark() {
            return Some(true);
        }
        self.freely(command).await;
        self.take_mark().then_some(false)
    }
}

#[tokio::test]
async fn repository_settings_run_no_program() {
    if !has_git() {
        return;
    }
    for (set, command) in [
        ("git config core.fsmonitor PROGRAM", "git status"),
        ("git config core.fsmonitor PROGRAM", "git diff"),
        (
            "git config core.hooksPath ../hooks; mkdir ../hooks; cp PROGRAM ../hooks/post-index-change; touch file",
            "git status",
        ),
        ("cp PROGRAM .git/hooks/post-index-change; touch -d 2001-01-01 file", "git status"),
        (
            "git config remote.r.url 'ext::PROGRAM x'; git config protocol.ext.allow always",
            "git ls-remote r",
        ),
        (
            "git config core.sshCommand PROGRAM; git config remote.r.url ssh://x/y",
            "git ls-remote r",
        ),
    ] {
        let repository = Repository::new().await;
        repository.freely(set).await;
        assert_eq!(repository.is_fooled(command).await, Some(false), "{set}: {command}");
    }
}

#[tokio::test]
async fn settings_of_submodules_and_bare_repositories_run_no_program() {
    if !has_git() {
        return;
    }
    let make = "git init -q ../other && git -C ../other -c user.name=a -c user.email=b commit -q --allow-empty -m x \
                && git -c protocol.file.allow=always submodule add -q ../other inner && git -C inner config core.fsmonitor PROGRAM";
    for (set, command) in [
        (make, "git status"),
        (make, "git diff"),
        (
            "mkdir -p evil/objects evil/refs/heads; ln -s refs/heads/x evil/HEAD; \
             printf '[core]\\nrepositoryformatversion=0\\nbare=false\\nworktree=.\\nfsmonitor=PROGRAM\\n' > evil/config; \
             cp .git/index evil/index",
            "cd evil; git status; cd ..",
        ),
    ] {
        let repository = Repository::new().await;
        repository.freely(set).await;
        assert_eq!(repository.is_fooled(command).await, Some(false), "{set}: {command}");
    }
}

#[tokio::test]
async fn read_only_git_commands_still_work() {
    if !has_git() {
        return;
    }
    let Repository { mut rig, .. } = Repository::new().await;
    let mut confinement = Confinement::default();
    confinement.read(rig.project());
    rig.confinement = Some(confinement);
    for (command, expected) in [
        ("git status -s", "M file"),
        ("git diff", "+two"),
        ("git log --oneline -p", "one"),
        ("git show --stat", "1 file changed"),
        ("git blame file", "two"),
        ("git branch -a", "* main"),
        ("git describe --always --dirty", "dirty"),
        ("git grep one HEAD", "one"),
        ("git stash list; git remote -v; git config --get user.name", "A"),
    ] {
        let text = rig.text("Bash", json!({"command": command})).await;
        assert!(text.contains(expected), "{command}: {text}");
    }
}

/// Prints medians of whole calls; run with `--ignored --nocapture`.
#[tokio::test]
#[ignore = "a measurement"]
async fn cost_of_a_call() {
    let Some(mut rig) = held() else { return };
    let confinement = rig.confinement.take();
    for command in ["true", "git status"] {
        let mut times = [Vec::new(), Vec::new()];
        // In turns, so that both meet the same noise.
        for _ in 0..200 {
            for (held, times) in [None, confinement.clone()].into_iter().zip(&mut times) {
                rig.confinement = held;
                let began = Instant::now();
                rig.call("Bash", json!({"command": command})).await.ok();
                times.push(began.elapsed());
            }
        }
        let [plain, confined] = times.map(|mut times| {
            times.sort();
            times[times.len() / 2]
        });
        println!("{command}: plain {plain:?}, confined {confined:?}");
    }
}
