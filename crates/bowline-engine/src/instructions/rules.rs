//! Rules: files of instructions under `.claude/rules`, some of them about certain files only.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{frontmatter::Document, memory::read_text};

/// A parsed rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) text: String,
    /// The files that it applies to; `None` for all.
    pub(super) about: Option<About>,
}

/// The files that a rule applies to, by patterns as in `.gitignore`.
#[derive(Debug, Clone)]
pub(super) struct About {
    /// The patterns as written.
    pub(super) globs: Vec<String>,
    patterns: Gitignore,
}

impl About {
    /// Patterns for files below `folder`. Invalid patterns match no file.
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
    pub(super) fn covers(&self, file: &Path) -> bool {
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
        let about = (!globs.is_empty()).then(|| About::new(globs, folder));
        Some(Self { text: document.body, about })
    }
}
