//! Line codec: bytes to lines, however the bytes are split, with a limit of the line length.
//!
//! It does no I/O: the caller hands bytes in and takes lines out. An invalid line is reported, and
//! the next is read. The only thing it knows of JSON is that escapes of lone surrogates cannot be
//! represented in Rust, and so it replaces them: no reader of a line has to.

use std::{borrow::Cow, str};

use crate::surrogate::replace_lone_surrogates;

/// The longest message on any wire: a line, an event of a stream, the body of a request.
///
/// Far above anything a model or a tool puts into one message, and low enough
/// that an endless line cannot exhaust memory.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// One line, with its position in the stream for error messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Line<T = String> {
    /// Counts from 1; blank lines count too.
    pub number: u64,
    /// The offset of the line in the stream, in bytes.
    pub offset: u64,
    /// The line without its end.
    pub text: T,
}

impl<T: AsRef<str>> Line<T> {
    /// A fault for a line that is not the JSON it should be, with the position of the error.
    pub fn not_json(&self, error: &serde_json::Error) -> LineFault {
        let problem = LineProblem::NotJson { column: error.column(), message: error.to_string() };
        LineFault { number: self.number, offset: self.offset, problem }
    }
}

impl<T> Line<T> {
    /// The same line with another form of its text.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Line<U> {
        Line { number: self.number, offset: self.offset, text: change(self.text) }
    }
}

impl Line<&str> {
    /// The same line with an owned text.
    pub fn into_owned(self) -> Line {
        self.map(str::to_owned)
    }
}

/// A line that could not be read. The next one can be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {number} (at byte {offset}): {problem}")]
pub struct LineFault {
    /// Which line; counts from 1.
    pub number: u64,
    /// The offset of the line in the stream, in bytes.
    pub offset: u64,
    /// What is wrong with it.
    pub problem: LineProblem,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// It is not UTF-8.
    #[error("not UTF-8 after {valid} bytes")]
    NotUtf8 {
        /// How many bytes of the line are valid.
        valid: usize,
    },
    /// It is longer than the limit.
    #[error("longer than {limit} bytes")]
    TooLong {
        /// The most bytes a line may have.
        limit: usize,
    },
    /// It is text, but not JSON.
    #[error("not JSON: {message}")]
    NotJson {
        /// Where in the line, in bytes; counts from 1.
        column: usize,
        /// The parser's message.
        message: String,
    },
}

/// Splits a stream of bytes into lines.
///
/// Lines end with `\n` or `\r\n`; blank ones are skipped, and so is a byte order mark
/// before the first. Escapes of lone surrogates are [replaced](crate::replace_lone_surrogates).
/// A line that is complete in the bytes at hand is borrowed from them; only a line that
/// continues in later bytes is copied. No line takes more memory than the limit.
///
/// ```
/// use bowline_protocol::LineDecoder;
///
/// let mut decoder = LineDecoder::default();
/// let mut lines = Vec::new();
/// for mut bytes in [&b"{\"a\":1}\r\n{\"b\""[..], b":2}\n\n{}"] {
///     while let Some(line) = decoder.next(&mut bytes) {
///         lines.push(line?.text.to_owned());
///     }
/// }
/// lines.extend(decoder.finish().transpose()?.map(|line| line.text.to_owned()));
/// assert_eq!(lines, [r#"{"a":1}"#, r#"{"b":2}"#, "{}"]);
/// # Ok::<(), bowline_protocol::LineFault>(())
/// ```
#[derive(Debug)]
pub struct LineDecoder {
    limit: usize,
    /// The beginning of a line whose end has not come yet.
    begun: Vec<u8>,
    /// The line being read was reported as too long; the rest of it is skipped.
    skipping: bool,
    /// `begun` has been returned and can be cleared.
    returned: bool,
    /// The last returned line, if lone surrogates were replaced in it.
    replaced: String,
    number: u64,
    /// Where the line being read begins.
    offset: u64,
    /// How much of the line being read was skipped.
    skipped: u64,
}

impl Default for LineDecoder {
    fn default() -> Self {
        Self::new(MAX_LINE_BYTES)
    }
}

impl LineDecoder {
    /// A decoder for lines of at most `limit` bytes, a carriage return before the newline included.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            begun: Vec::new(),
            skipping: false,
            returned: false,
            replaced: String::new(),
            number: 1,
            offset: 0,
            skipped: 0,
        }
    }

    /// Takes the next line off the front of `bytes`.
    ///
    /// `None` means that all bytes are used up. More may follow: hand them in the
    /// same way, or call [`finish`](Self::finish) when there are none.
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        bytes: &mut &'b [u8],
    ) -> Option<Result<Line<&'a str>, LineFault>> {
        self.clear_returned();
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            *bytes = &rest[1..];
            let position = self.advance(head.len() as u64 + 1);
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if self.begun.len() + head.len() > self.limit {
                self.begun.clear();
                return Some(Err(position.too_long(self.limit)));
            }
            if self.begun.is_empty() {
                if is_blank(head) {
                    continue;
                }
                return Some(position.line(head, &mut self.replaced));
            }
            self.begun.extend_from_slice(head);
            if is_blank(&self.begun) {
                self.begun.clear();
                continue;
            }
            self.returned = true;
            return Some(position.line(&self.begun, &mut self.replaced));
        }
        self.keep(std::mem::take(bytes)).map(Err)
    }

    /// Takes the last line, if the stream ended without a newline.
    pub fn finish(&mut self) -> Option<Result<Line<&str>, LineFault>> {
        self.clear_returned();
        if std::mem::take(&mut self.skipping) || is_blank(&self.begun) {
            self.begun.clear();
            return None;
        }
        let position = self.advance(0);
        self.returned = true;
        Some(position.line(&self.begun, &mut self.replaced))
    }

    /// Keeps the beginning of a line, unless that alone is too long already.
    fn keep(&mut self, bytes: &[u8]) -> Option<LineFault> {
        if self.skipping {
            self.skipped += bytes.len() as u64;
            return None;
        }
        if self.begun.len() + bytes.len() > self.limit {
            self.skipping = true;
            self.skipped = (self.begun.len() + bytes.len()) as u64;
            self.begun = Vec::new();
            return Some(self.position().too_long(self.limit));
        }
        self.begun.extend_from_slice(bytes);
        None
    }

    fn position(&self) -> Position {
        Position { number: self.number, offset: self.offset }
    }

    /// Steps over the line being read, of which `last` bytes came just now.
    fn advance(&mut self, last: u64) -> Position {
        let position = self.position();
        self.number += 1;
        self.offset += self.begun.len() as u64 + std::mem::take(&mut self.skipped) + last;
        position
    }

    fn clear_returned(&mut self) {
        // Rare, and perhaps huge: its memory is not kept.
        if !self.replaced.is_empty() {
            self.replaced = String::new();
        }
        if std::mem::take(&mut self.returned) {
            // One huge line must not cost its size for the rest of the session.
            if self.begun.capacity() > KEPT_CAPACITY {
                self.begun = Vec::new();
            }
            self.begun.clear();
        }
    }
}

/// The buffer for unfinished lines is kept up to this size, so that ordinary lines share one.
const KEPT_CAPACITY: usize = 256 * 1024;

/// Written by some programs at the beginning of a stream. It is not part of the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Number and offset of a line.
struct Position {
    number: u64,
    offset: u64,
}

impl Position {
    fn line<'a>(
        self,
        bytes: &'a [u8],
        replaced: &'a mut String,
    ) -> Result<Line<&'a str>, LineFault> {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let Ok(text) = simdutf8::basic::from_utf8(bytes) else {
            return Err(self.not_utf8(bytes));
        };
        let text = match self.offset {
            0 => text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text),
            _ => text,
        };
        let text = match replace_lone_surrogates(Cow::Borrowed(text)) {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => {
                *replaced = text;
                replaced
            }
        };
        Ok(Line { number: self.number, offset: self.offset, text })
    }

    #[cold]
    fn not_utf8(self, bytes: &[u8]) -> LineFault {
        let valid = str::from_utf8(bytes).err().map_or(bytes.len(), |error| error.valid_up_to());
        self.fault(LineProblem::NotUtf8 { valid })
    }

    fn too_long(self, limit: usize) -> LineFault {
        self.fault(LineProblem::TooLong { limit })
    }

    fn fault(self, problem: LineProblem) -> LineFault {
        LineFault { number: self.number, offset: self.offset, problem }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii_start().is_empty()
}
