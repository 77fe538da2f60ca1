//! Facts that files of the workshop state about the repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

#[test]
fn paths_in_contributing_exist() {
    let text = read("CONTRIBUTING.md");
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let folders = ["crates/", "docs/", "interop/", ".config/", ".ci/"];
        folders.iter().any(|folder| word.starts_with(folder)) && !word.contains("NAME")
    };
    let paths: Vec<_> = quoted.filter(is_path).collect();
    assert!(paths.len() > 30, "{paths:?}");
    let missing: Vec<_> = paths.into_iter().filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "CONTRIBUTING.md names files that do not exist: {missing:?}");
}

#[test]
fn toolchain_is_the_oldest_supported_compiler() {
    let pinned = value(&read("rust-toolchain.toml"), "channel");
    let supported = value(&read("Cargo.toml"), "rust-version");
    assert!(pinned.starts_with(&supported), "{pinned} is not {supported}");
}

#[test]
fn changelog_has_the_sections_of_keep_a_changelog() {
    let known = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
    let text = read("CHANGELOG.md");
    let versions: Vec<_> = text.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(versions.first(), Some(&"## [Unreleased]"));
    let released = |line: &&str| line.starts_with("## [") && line.contains("] - 20");
    assert!(versions.iter().skip(1).all(released), "{versions:?}");
    for section in text.lines().filter_map(|line| line.strip_prefix("### ")) {
        assert!(known.contains(&section), "{section} is not a section of Keep a Changelog");
    }
}

#[test]
fn glossary_is_linked_from_the_architecture() {
    assert!(root().join("docs/glossary.md").exists());
    assert!(read("ARCHITECTURE.md").contains("(docs/glossary.md)"));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The first quoted value of a key.
fn value(text: &str, key: &str) -> String {
    let line = text.lines().find(|line| line.starts_with(key)).expect("the key is there");
    line.split('"').nth(1).expect("the value is quoted").to_owned()
}
