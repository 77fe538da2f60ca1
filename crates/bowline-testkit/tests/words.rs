//! Vocabulary of sources and documents: a short list of words that hide the subject from a search.
//!
//! `docs/glossary.md` has the project's own terms; everything else is an ordinary word of the field.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Phrases, and the words to use instead. In identifiers an underscore stands for a space.
const PHRASES: &[(&str, &str)] = &[
    ("whoever", "the host, the client, the caller"),
    ("anew", "again, from scratch"),
    ("half a character", "a lone surrogate"),
    ("halves of characters", "lone surrogates"),
    ("make no sense", "are invalid"),
    ("makes no sense", "is invalid"),
    ("is said", "is sent, is emitted"),
    ("was said", "was sent, was emitted"),
    ("take up", "resume, dequeue"),
    ("takes up", "resumes, dequeues"),
    ("taken up", "resumed, dequeued"),
    ("cannot be told", "is unknown"),
    ("the books", "the usage ledger"),
    ("hearsay", "an injected line"),
    ("unheard", "not received"),
];

/// First words of a module's documentation that announce a question instead of naming a subject.
const FIRST_WORDS: &[&str] = &["What", "Whether", "Who", "How", "Where"];

/// Beginnings of test names that do not name their subject.
const TEST_NAMES: &[&str] = &["what_", "nothing_", "it_", "these_", "those_", "whoever_"];

#[test]
fn sources_and_documents_use_the_words_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for path in files(&root) {
        let name = path.strip_prefix(&root).expect("it lies below").to_string_lossy().into_owned();
        if name == "crates/bowline-testkit/tests/words.rs" {
            continue;
        }
        let text = fs::read_to_string(&path).expect("it is text");
        found.extend(check(&text).into_iter().map(|fault| format!("{name}:{fault}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn phrases_are_found_in_comments_and_identifiers() {
    let faults = |text: &str| check(text).len();
    assert_eq!(faults("//! What is wrong.\n"), 1);
    assert_eq!(faults("// Whoever waits is notified.\nfn taken_up() {}\n"), 2);
    assert_eq!(faults("#[test]\nfn what_is_left() {}\n"), 1);
    assert_eq!(faults("#[tokio::test]\nasync fn it_ends() {}\n"), 1);
    assert_eq!(faults("fn it_ends() {}\n// renewal, mistaken upset\n"), 0);
}

/// The faults of a text, each with its line number.
fn check(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut follows_test = false;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let words = line.to_lowercase().replace('_', " ");
        for (phrase, instead) in PHRASES {
            if contains(&words, phrase) {
                faults.push(format!("{number}: `{phrase}`: {instead}"));
            }
        }
        let first = line.strip_prefix("//! ").and_then(|line| line.split(' ').next());
        if index == 0 && first.is_some_and(|first| FIRST_WORDS.contains(&first)) {
            faults.push(format!("{number}: the first line is not a noun phrase"));
        }
        let code = line.trim_start();
        let function = code.strip_prefix("async ").unwrap_or(code).strip_prefix("fn ");
        if let Some(name) = function.filter(|_| follows_test)
            && TEST_NAMES.iter().any(|beginning| name.starts_with(beginning))
        {
            faults.push(format!("{number}: the test's name has no subject: {name}"));
        }
        let is_attribute = code.starts_with("#[");
        follows_test = is_attribute && (follows_test || code.contains("test"));
    }
    faults
}

/// Whether a phrase occurs as whole words.
fn contains(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(start, _)| {
        let is_letter = |char: char| char.is_alphanumeric();
        !text[..start].ends_with(is_letter) && !text[start + phrase.len()..].starts_with(is_letter)
    })
}

/// Sources, tests and documents.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root.join("docs"), root.join("examples/src")];
    for entry in fs::read_dir(root.join("crates")).expect("the crates are there") {
        let krate = entry.expect("it can be listed").path();
        folders.extend(["src", "tests", "examples"].map(|folder| krate.join(folder)));
    }
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("it can be listed").path();
            let extension = path.extension().unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if extension == "rs" || extension == "md" {
                files.push(path);
            }
        }
    }
    files.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    files.sort();
    files
}
