//! Rules: files of instructions under `.claude/rules`, some of them about certain files only.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{frontmatter::Document, memory::read_text};

/// How deep folders of rules are looked into.
const DEPTH: usize = 8;

/// A rule as it is written down.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) text: String,
    /// The files that it is about; `None` if it is about all.
    pub(super) about: Option<About>,
}

/// The files that a rule is about, by patterns as in `.gitignore`.
#[derive(Debug, Clone)]
pub(super) struct About {
    /// As they are written.
    pub(super) globs: Vec<String>,
    patterns: Gitignore,
}

impl About {
    /// Files below `folder`. Patterns that make no sense are about nothing.
    fn new(globs: Vec<String>, folder: &Path) -> Self {
        let mut builder = GitignoreBuilder::new(folder);
        for glob in &globs {
            if let Err(error) = builder.add_line(None, glob) {
                tracing::warn!(%error, glob, "a rule is about files that cannot be told");
            }
        }
        let patterns = builder.build().unwrap_or_else(|_| Gitignore::empty());
        Self { globs, patterns }
    }

    /// Whether the rule is about this file.
    pub(super) fn covers(&self, file: &Path) -> bool {
        let root = self.patterns.path();
        file.starts_with(root) && self.patterns.matched_path_or_any_parents(file, false).is_ignore()
    }
}

impl Rule {
    /// Reads a rule about files below `folder`.
    pub(super) fn read(path: &Path, folder: &Path) -> Option<Self> {
        let document = Document::parse(&read_text(path)?);
        let globs = document.list("paths").unwrap_or_default();
        let globs: Vec<_> = globs.into_iter().filter(|glob| !glob.trim().is_empty()).collect();
        let about = (!globs.is_empty()).then(|| About::new(globs, folder));
        Some(Self { text: document.body, about })
    }
}

/// The files with rules in a folder and in those below it, in the order of their names.
pub(super) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    look(folder, DEPTH, &mut HashSet::new(), &mut found);
    found
}

fn look(folder: &Path, depth: usize, seen: &mut HashSet<PathBuf>, found: &mut Vec<PathBuf>) {
    // A link may lead back to where it is.
    let is_new = fs::canonicalize(folder).is_ok_and(|real| seen.insert(real));
    let Some(depth) = depth.checked_sub(1).filter(|_| is_new) else { return };
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            look(&path, depth, seen, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}
