//! Repositories that `git` itself made, harmless and not.

#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]

use std::{fs, path::PathBuf, process::Command};

use tempfile::TempDir;

use super::*;

/// A folder with a repository `p` that has one commit.
struct Rig {
    _folder: TempDir,
    root: PathBuf,
}

impl Rig {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let rig = Self { _folder: folder, root };
        rig.sh("git init -q -b main p && cd p && echo 1 > f && mkdir s && echo 1 > s/f && git add . && git commit -qm m");
        rig
    }

    /// Runs a script in the folder.
    fn sh(&self, script: &str) {
        let output = Command::new("sh")
            .args(["-ec", script])
            .current_dir(&self.root)
            .env_clear()
            .envs([
                ("PATH", std::env::var("PATH").unwrap()),
                ("HOME", self.root.display().to_string()),
            ])
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "A")))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "a@example.org")))
            .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_COUNT", "1")])
            .envs([("GIT_CONFIG_KEY_0", "protocol.file.allow"), ("GIT_CONFIG_VALUE_0", "always")])
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn examine(&self, from: &str) -> Result<Harmless, Doubt> {
        examine(&self.root.join(from))
    }
}

const SUBMODULE: &str = "git init -q other && git -C other commit -q --allow-empty -m x && cd p && \
                         git submodule --quiet add ../other inner && git commit -qm inner && cd ..";

#[test]
fn ordinary_repositories_are_harmless() {
    for (script, from) in [
        ("true", "p"),
        ("true", "p/s"),
        ("true", "p/s/f"),
        ("true", "p/s/missing"),
        ("true", "."),
        ("git clone -q p q", "q"),
        (
            "git clone -q p q && cd q && git checkout -q -b side && git remote add x git@example.org:a/b",
            "q",
        ),
        ("cd p && git checkout -q --detach", "p"),
        ("cd p && git update-index --index-version 4", "p"),
        ("cd p && git worktree add -q ../w -b w", "w"),
        (
            "cd p && git worktree add -q ../w -b w && git config extensions.worktreeConfig true && \
          git -C ../w config --worktree core.sparseCheckout false",
            "w",
        ),
        (SUBMODULE, "p"),
        (SUBMODULE, "p/inner"),
        (
            "cd p && git config filter.lfs.clean 'git-lfs clean -- %f' && git config filter.lfs.required true \
          && git config filter.lfs.process 'git-lfs filter-process'",
            "p",
        ),
        ("cd p && git config core.hooksPath .husky && git config user.name B", "p"),
        ("cd p && mkdir .git/modules && git pack-refs --all && git gc -q", "p"),
        ("git init -q --object-format=sha256 q && cd q && echo 1 > f && git add f", "q"),
        ("git init -q empty", "empty"),
        ("ln -s p link", "link/s"),
    ] {
        let rig = Rig::new();
        rig.sh(script);
        assert!(rig.examine(from).is_ok(), "{script}, {from}: {:?}", rig.examine(from));
    }
}

#[test]
fn config_that_git_reads_is_parsed() {
    let rig = Rig::new();
    rig.sh(&format!("{SUBMODULE} && cd p && git worktree add -q ../w -b w"));
    let folders = |from| {
        let folders = rig.examine(from).unwrap().folders;
        let short = |it: &PathBuf| it.strip_prefix(&rig.root).unwrap().display().to_string();
        folders.iter().map(short).collect::<Vec<_>>()
    };
    assert_eq!(folders("p/s"), ["p", "p/.git", "p/inner", "p/.git/modules/inner"]);
    assert_eq!(folders("w"), ["w", "p/.git/worktrees/w", "p/.git"]);
    assert_eq!(folders("."), [""; 0]);
}

#[test]
fn repositories_that_may_run_programs_or_lead_elsewhere_are_doubted() {
    let evil_inside = "cd p && git init -q inner && git -C inner commit -q --allow-empty -m x && \
                       git add inner 2>/dev/null && git -C inner config filter.x.clean evil";
    let bare = "mkdir -p p/e/objects p/e/refs && cd p/e &&";
    for (script, from) in [
        ("cd p && git config core.fsmonitor ./evil", "p"),
        ("cd p && git config core.fsmonitor ./evil", "p/s"),
        ("cd p && git config core.fsmonitor ./evil && ln -s p/s ../l", "l"),
        ("cd p && git config diff.external evil", "p"),
        ("cd p && git config diff.x.textconv evil && echo '* diff=x' > .gitattributes", "p"),
        ("cd p && git config filter.x.clean evil", "p"),
        ("cd p && git config filter.lfs.process evil", "p"),
        ("cd p && git config merge.x.driver evil", "p"),
        ("cd p && git config gpg.program evil && git config log.showSignature true", "p"),
        ("cd p && git config core.pager evil", "p"),
        ("cd p && git config core.worktree /", "p"),
        ("cd p && git config include.path ../evil", "p"),
        ("cd p && git config includeIf.gitdir:/.path ../evil", "p"),
        ("cd p && printf '[core]\\nx = \"\\n' >> .git/config", "p"),
        ("cd p && printf '[core]\\n\\0' >> .git/config", "p"),
        ("cd p && mv .git/config c && ln -s ../c .git/config", "p"),
        ("cd p && rm .git/config && mkdir .git/config", "p"),
        // Settings that hold for one copy of the files only.
        (
            "cd p && git config extensions.worktreeConfig true && git config --worktree core.fsmonitor evil",
            "p",
        ),
        (
            "cd p && git worktree add -q ../w -b w && git config extensions.worktreeConfig true && \
          git -C ../w config --worktree core.fsmonitor evil",
            "w",
        ),
        // Settings of a repository inside.
        (&format!("{SUBMODULE} && git -C p/inner config core.fsmonitor evil"), "p"),
        (&format!("{SUBMODULE} && git -C p/inner config diff.external evil"), "p/inner"),
        (evil_inside, "p"),
        (&format!("{evil_inside} && git update-index --index-version 4"), "p"),
        ("cd p && git update-index --split-index", "p"),
        ("cd p && echo x > .git/index", "p"),
        // Bare repositories are made of ordinary files.
        (&format!("{bare} touch HEAD config"), "p/e"),
        (&format!("{bare} ln -s refs/heads/x HEAD"), "p/e"),
        (&format!("{bare} ln -s refs/heads/x HEAD && mkdir d"), "p/e/d"),
        (&format!("{bare} ln -s refs/heads/x HEAD && mkdir .git"), "p/e"),
        ("mkdir p/e && cd p/e && ln -s refs/heads/x HEAD && echo ../../x > commondir", "p/e"),
        ("git init -q --bare b", "b"),
        ("true", "p/.git"),
        // Repositories of others.
        ("mkdir q && echo 'gitdir: ../p/.git' > q/.git", "q"),
        ("mkdir q && ln -s ../p/.git q/.git", "q"),
        ("cd p && git worktree add -q ../w -b w && cd .. && mkdir q && cp w/.git q/.git", "q"),
        ("git init -q q && echo ../../p/.git > q/.git/commondir", "q"),
        ("git clone -q --shared p q", "q"),
        ("mkdir q && echo words > q/.git", "q"),
        ("mkdir q && mkfifo q/.git", "q"),
        ("mkdir -p q/.git && touch q/.git/HEAD", "q"),
        ("git init -q --separate-git-dir=elsewhere q", "q"),
    ] {
        let rig = Rig::new();
        rig.sh(script);
        assert!(rig.examine(from).is_err(), "{script}, {from}");
    }
}

#[test]
fn a_doubt_names_file_and_setting() {
    let rig = Rig::new();
    rig.sh("cd p && git config core.fsmonitor ./evil");
    let doubt = rig.examine("p").unwrap_err().to_string();
    assert!(
        doubt.ends_with("/p/.git/config sets core.fsmonitor, which may run a program"),
        "{doubt}"
    );
}
