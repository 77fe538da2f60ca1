//! Numbered stations of ARCHITECTURE.md and paths in the root documents, checked against the sources.
//!
//! A station is written `crate/path.rs::name` with the crate's `bowline-` and `src` left out, or
//! `bin/path.rs::name` for the binary. The file must exist and define that name. A walk that is
//! renamed in the code and not in the document fails here.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The walks, and the most stations that each may have.
const WALKS: &[(&str, usize)] =
    &[("### A prompt", 32), ("### A permission request", 20), ("### An embedded tool call", 16)];

#[test]
fn stations_name_functions_that_exist() {
    let text = document("ARCHITECTURE.md");
    let mut problems = Vec::new();
    for (title, most) in WALKS {
        let stations = stations(&text, title);
        assert!(!stations.is_empty(), "ARCHITECTURE.md has no walk `{title}`");
        if stations.len() > *most {
            problems.push(format!("{title}: {} stations, at most {most}", stations.len()));
        }
        for (number, station) in stations.iter().enumerate() {
            let named: Vec<_> = quoted(station).filter(|quoted| quoted.contains(".rs::")).collect();
            if named.is_empty() {
                problems.push(format!("{title}, station {}: names no function", number + 1));
            }
            for name in named {
                if let Err(problem) = check(name) {
                    problems.push(format!("{title}, station {}: {problem}", number + 1));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn paths_in_the_root_documents_exist() {
    let mut problems = Vec::new();
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"] {
        for path in quoted(&document(name)).filter(|quoted| is_path(quoted)) {
            let found =
                root().join(path).exists() || source(path).is_some_and(|file| file.exists());
            if !found {
                problems.push(format!("{name}: `{path}` does not exist"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn an_unknown_function_is_reported() {
    assert_eq!(
        check("peer/no_such_file.rs::f"),
        Err("`peer/no_such_file.rs` does not exist".into())
    );
    let missing = check("peer/lib.rs::no_such_function").expect_err("it is not defined");
    assert_eq!(missing, "`peer/lib.rs` defines no `no_such_function`");
}

/// The numbered items of a section.
fn stations(text: &str, title: &str) -> Vec<String> {
    let Some((_, section)) = text.split_once(title) else { return Vec::new() };
    let section = section.split("\n#").next().unwrap_or_default();
    let mut items: Vec<String> = Vec::new();
    for line in section.lines().skip(1) {
        let number = line.split_once(". ").map(|(number, _)| number);
        if number
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
        {
            items.push(line.to_owned());
        } else if let Some(last) = items.last_mut().filter(|_| line.starts_with("   ")) {
            last.push_str(line);
        }
    }
    items
}

/// Checks that the file of a station defines its name; `Type::method` is looked up by the method.
fn check(station: &str) -> Result<(), String> {
    let (path, name) =
        station.split_once("::").ok_or_else(|| format!("`{station}` has no name"))?;
    let text = source(path).and_then(|file| fs::read_to_string(file).ok());
    let text = text.ok_or_else(|| format!("`{path}` does not exist"))?;
    let name = name.rsplit("::").next().unwrap_or(name);
    let defined = ["fn", "struct", "enum", "trait", "type", "const", "mod"].iter().any(|kind| {
        let definition = format!("{kind} {name}");
        text.match_indices(&definition).any(|(at, _)| {
            !text[at + definition.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    });
    if defined { Ok(()) } else { Err(format!("`{path}` defines no `{name}`")) }
}

/// The source file that a short path means.
fn source(path: &str) -> Option<PathBuf> {
    let (name, rest) = path.split_once('/')?;
    let package = if name == "bin" { "bowline".to_owned() } else { format!("bowline-{name}") };
    Some(root().join("crates").join(package).join("src").join(rest))
}

/// Whether a quoted text is a path of the repository and not a command, a glob or a pattern.
fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/_.-".contains(c);
    let ends = [".rs", ".md", ".toml", ".py", ".ld"].iter().any(|end| text.ends_with(end));
    text.contains('/') && ends && text.chars().all(plain) && !text.starts_with(['/', '.'])
}

/// The texts between single backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.starts_with("```"));
    lines.flat_map(|line| line.split('`').skip(1).step_by(2))
}

fn document(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
