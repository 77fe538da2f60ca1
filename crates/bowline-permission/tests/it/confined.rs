//! Which commands are held to reading, and to reading what.

use std::{fs, path::PathBuf};

use bowline_permission::Verdict;
use bowline_sandbox::{Confinement, Readable};

use super::bench::Bench;

fn held(bench: &Bench, command: &str) -> Option<Confinement> {
    match bench.verdict(&format!("Bash {command}")) {
        Verdict::Allow(reason) => reason.confinement,
        other => panic!("{command}: {other:?}"),
    }
}

fn readable(bench: &Bench, command: &str) -> Vec<PathBuf> {
    match held(bench, command).expect(command).readable {
        Readable::Only(paths) => paths,
        Readable::Everything => panic!("{command} may read everything"),
    }
}

#[test]
fn read_only_commands_are_confined_in_every_mode() {
    for mode in ["default", "plan", "dontAsk", "acceptEdits", "auto"] {
        let bench = Bench::new().mode(mode);
        assert_eq!(readable(&bench, "cat a.txt | sort"), [bench.project.as_path()], "{mode}");
    }
}

#[test]
fn allowed_commands_are_not_confined() {
    let free = |bench: Bench, command| assert_eq!(held(&bench, command), None, "{command}");
    free(Bench::new().rules(&["allow Bash(cat:*)"]), "cat a.txt");
    free(Bench::new().rules(&["allow Bash(cat a.txt)"]), "cat a.txt");
    free(Bench::new().rules(&["allow Bash"]), "cat a.txt");
    free(Bench::new().rules(&["allow Bash(make:*)"]), "ls && make");
    free(Bench::new().mode("bypassPermissions"), "cat a.txt");
    free(Bench::new().mode("acceptEdits"), "cat a.txt > b.txt");
    free(Bench::new().hook("allow"), "cat a.txt");
    assert!(held(&Bench::new().hook("defer"), "cat a.txt").is_some());
}

#[test]
fn places_that_rules_let_it_read_are_open() {
    let mut bench = Bench::new().rules(&["allow Read(/OUTSIDE/**)"]);
    assert_eq!(readable(&bench, "cat a.txt"), [bench.project.as_path()]);
    let file = bench.outside.join("b.txt");
    assert_eq!(readable(&bench, "cat OUTSIDE/b.txt"), [bench.project.clone(), file]);
    bench.policy.readable.push(bench.home.join("own"));
    assert_eq!(readable(&bench, "ls"), [bench.project.clone(), bench.home.join("own")]);
}

#[test]
fn the_repository_around_is_open_for_git() {
    let bench = Bench::new();
    let root = bench.project.parent().unwrap().to_owned();
    for name in ["objects", "refs"] {
        fs::create_dir_all(root.join(".git").join(name)).unwrap();
    }
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(readable(&bench, "ls"), [bench.project.as_path()]);
    assert!(readable(&bench, "git status").contains(&root));
}

#[test]
fn questions_for_versions_may_read_everything() {
    let bench = Bench::new();
    for command in ["cargo --version", "node -v && npm --version 2>&1 | head -1", "go version"] {
        let held = held(&bench, command).unwrap();
        assert_eq!(held.readable, Readable::Everything, "{command}");
    }
    for command in ["cargo --version; cat a.txt", "cargo --version; cat *", "node -v; ls"] {
        readable(&bench, command);
    }
}
