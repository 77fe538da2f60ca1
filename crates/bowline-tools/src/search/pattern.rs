//! Search pattern and output mode of a content search.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};

/// Memory limit per file and thread: a line, and those shown before it.
pub(super) const LONGEST_LINE: usize = 16 << 20;

/// A file that is searched across lines is in memory as a whole.
pub(super) const LARGEST_WHOLE: usize = 64 << 20;

/// What to look for, and what to report.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(crate) pattern: Pattern,
    pub(crate) show: Show,
}

/// A compiled regular expression.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(super) matcher: RegexMatcher,
    multiline: bool,
}

/// What is reported of each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// That it matches.
    Files,
    /// How often it matches.
    Counts,
    /// Its matching lines.
    Lines {
        /// Lines around each match.
        contexts: Contexts,
        /// Whether lines are numbered.
        numbered: bool,
        /// Whether only the matching parts of lines are shown.
        only_matching: bool,
    },
}

/// Lines to show around a match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Contexts {
    pub(crate) before: usize,
    pub(crate) after: usize,
}

impl Pattern {
    /// Compiles a pattern; the error is in ripgrep's words.
    pub(crate) fn new(pattern: &str, ignore_case: bool, multiline: bool) -> Result<Self, String> {
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(ignore_case).multi_line(true);
        if multiline {
            builder.dot_matches_new_line(true);
        } else {
            builder.line_terminator(Some(b'\n'));
        }
        let matcher = builder.build(pattern).map_err(|error| error.to_string())?;
        Ok(Self { matcher, multiline })
    }
}

impl Query {
    /// A searcher for one thread. In a file that was named, a NUL byte does not end the search.
    pub(super) fn searcher(&self, named_file: bool) -> Searcher {
        let mut builder = SearcherBuilder::new();
        let most = if self.pattern.multiline { LARGEST_WHOLE } else { LONGEST_LINE };
        builder
            .heap_limit(Some(most))
            .multi_line(self.pattern.multiline)
            .line_number(matches!(self.show, Show::Lines { numbered: true, .. }))
            .binary_detection(if named_file {
                BinaryDetection::convert(0)
            } else {
                BinaryDetection::quit(0)
            });
        if let Show::Lines { contexts, only_matching: false, .. } = self.show {
            builder.before_context(contexts.before).after_context(contexts.after);
        }
        builder.build()
    }
}
