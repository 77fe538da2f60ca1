//! Instruction rules: files under `.claude/rules`, optionally limited to matching paths.
//!
//! They are not permission rules.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{frontmatter::Document, memory::read_text};

/// A parsed rule file.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) text: String,
    /// The files that it applies to; `None` means all.
    pub(super) scope: Option<PathScope>,
}

/// The files that a rule applies to, as `.gitignore` patterns.
#[derive(Debug, Clone)]
pub(super) struct PathScope {
    /// The patterns' source text.
    pub(super) globs: Vec<String>,
    patterns: Gitignore,
}

impl PathScope {
    /// Patterns relative to `folder`. An invalid one is logged and matches nothing.
    fn new(globs: Vec<String>, folder: &Path) -> Self {
        let mut builder = GitignoreBuilder::new(folder);
        for glob in &globs {
            if let Err(error) = builder.add_line(None, glob) {
                tracing::warn!(%error, glob, "a rule has an invalid glob");
            }
        }
        let patterns = builder.build().unwrap_or_else(|_| Gitignore::empty());
        Self { globs, patterns }
    }

    /// Whether the rule applies to this file.
    pub(super) fn matches(&self, file: &Path) -> bool {
        let root = self.patterns.path();
        file.starts_with(root) && self.patterns.matched_path_or_any_parents(file, false).is_ignore()
    }
}

impl Rule {
    /// Reads a rule for files below `folder`.
    pub(super) fn read(path: &Path, folder: &Path) -> Option<Self> {
        let document = Document::parse(&read_text(path)?);
        let globs = document.list("paths").unwrap_or_default();
        let globs: Vec<_> = globs.into_iter().filter(|glob| !glob.trim().is_empty()).collect();
        let scope = (!globs.is_empty()).then(|| PathScope::new(globs, folder));
        Some(Self { text: document.body, scope })
    }
}
