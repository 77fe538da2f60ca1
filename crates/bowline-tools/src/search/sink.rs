//! Collector of the matches in one file.

use std::{io, path::PathBuf, time::SystemTime};

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::pattern::{Query, Show};

/// Longer lines are data, not text, and are left out.
const MAX_LINE_CHARS: usize = 500;

/// What stands for a line that is too long to show.
const OMITTED: &str = "[Omitted long matching line]";

/// What was found in one file.
#[derive(Debug)]
pub(crate) struct FileHits {
    pub(crate) path: PathBuf,
    /// When it was changed; only looked up where the order depends on it.
    pub(crate) modified: Option<SystemTime>,
    /// How many lines (or, across lines, how many matches) there are.
    pub(crate) matches: u64,
    /// The lines to show, with their numbers and separators, without the path.
    pub(crate) lines: Vec<HitLine>,
}

/// One line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HitLine {
    /// A matching line, or a matching part of one.
    Match { number: Option<u64>, text: String },
    /// A line near a match.
    Context { number: Option<u64>, text: String },
    /// Something is left out here.
    Break,
    /// The file is no text; what matched is not shown.
    Binary { offset: u64 },
}

/// Collects hits of one file.
pub(super) struct Collect<'a> {
    query: &'a Query,
    matcher: &'a RegexMatcher,
    binary: Option<u64>,
    /// How many more lines are kept.
    room: usize,
    pub(super) matches: u64,
    pub(super) lines: Vec<HitLine>,
}

impl<'a> Collect<'a> {
    /// Keeps at most `room` lines. What matches beyond that is counted.
    pub(super) fn new(query: &'a Query, room: usize) -> Self {
        let matcher = &query.pattern.matcher;
        Self { query, matcher, binary: None, room, matches: 0, lines: Vec::new() }
    }

    /// Keeps a line. Says whether there is room for another.
    fn push(&mut self, line: impl FnOnce() -> HitLine) -> bool {
        if self.lines.len() < self.room {
            self.lines.push(line());
        }
        self.lines.len() < self.room
    }

    /// The matching parts of a line, each on a line of its own.
    fn push_parts(&mut self, found: &SinkMatch<'_>) -> io::Result<()> {
        let mut number = found.line_number();
        for line in found.lines() {
            let mut has_room = true;
            let each = self.matcher.find_iter(line, |part| {
                has_room = self.push(|| HitLine::Match { number, text: text(&line[part]) });
                has_room
            });
            each.map_err(io::Error::other)?;
            if !has_room {
                break;
            }
            number = number.map(|number| number + 1);
        }
        Ok(())
    }
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        match self.query.show {
            Show::Files => return Ok(false),
            Show::Counts => {}
            Show::Lines { only_matching: true, .. } => self.push_parts(found)?,
            Show::Lines { .. } => {
                let mut number = found.line_number();
                for line in found.lines() {
                    if !self.push(|| HitLine::Match { number, text: text(line) }) {
                        break;
                    }
                    number = number.map(|number| number + 1);
                }
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, near: &SinkContext<'_>) -> io::Result<bool> {
        let number = near.line_number();
        self.push(|| HitLine::Context { number, text: text(near.bytes()) });
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.push(|| HitLine::Break);
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, offset: u64) -> io::Result<bool> {
        self.binary.get_or_insert(offset);
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, _: &SinkFinish) -> io::Result<()> {
        if let (Some(offset), Show::Lines { .. }) = (self.binary, self.query.show)
            && self.matches > 0
        {
            self.lines = vec![HitLine::Binary { offset }];
        }
        Ok(())
    }
}

/// A line without its end, or a note instead.
fn text(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // Four bytes are the most that a character has; there is no need to look at each.
    if line.len() > 4 * MAX_LINE_CHARS {
        return OMITTED.to_owned();
    }
    let text = String::from_utf8_lossy(line);
    if text.len() > MAX_LINE_CHARS && text.chars().count() > MAX_LINE_CHARS {
        OMITTED.to_owned()
    } else {
        text.into_owned()
    }
}
