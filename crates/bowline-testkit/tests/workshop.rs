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
fn tests_in_the_tables_of_feature_requests_exist() {
    let mut sources = Vec::new();
    collect_sources(&root().join("crates"), &mut sources);
    let has_function = |name: &str| {
        let function = format!("fn {name}(");
        sources.iter().any(|(_, text)| text.contains(&function))
    };
    let mut named = 0;
    let mut missing = Vec::new();
    for document in ["docs/asks-sdk.md", "docs/asks-engine.md"] {
        for row in read(document).lines().filter(|line| line.starts_with("| ")) {
            let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
            for name in tests.split('`').skip(1).step_by(2) {
                let last = name.rsplit("::").next().unwrap_or(name);
                let exists = match last {
                    path if path.ends_with(".rs") => {
                        sources.iter().any(|(source, _)| source.ends_with(path))
                    }
                    function if function.matches('_').count() > 1 => has_function(function),
                    _ => continue,
                };
                named += 1;
                if !exists {
                    missing.push(format!("{document}: {name}"));
                }
            }
        }
    }
    assert!(named > 100, "{named} tests are named");
    assert!(missing.is_empty(), "renamed or removed tests:\n{}", missing.join("\n"));
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

/// Rust files below a folder, with their text.
fn collect_sources(folder: &Path, sources: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() {
            collect_sources(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source is text");
            sources.push((path, text));
        }
    }
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
