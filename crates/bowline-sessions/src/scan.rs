//! Reading a transcript from its end, and any line of it again, without holding the file in memory.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    mem,
    ops::Range,
    path::Path,
};

use memchr::memrchr;

/// Bytes per read: large enough that system calls do not matter, small beside a conversation.
const CHUNK: usize = 256 * 1024;

/// Range of a line in its file, without its newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) length: usize,
}

/// The lines of a file, last first. Empty ones are left out.
#[derive(Debug)]
pub(crate) struct BackwardLines {
    file: File,
    /// The part that is read and not yet given out; its first byte is the file's byte `start`.
    buffer: Vec<u8>,
    start: u64,
    /// The buffer before this one, kept because fresh memory is what costs most here.
    spare: Vec<u8>,
}

impl BackwardLines {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let start = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, buffer: Vec::new(), start, spare: Vec::new() })
    }

    /// The next line towards the beginning, handed to `look`.
    pub(crate) fn next<T>(&mut self, look: impl FnOnce(Span, &[u8]) -> T) -> io::Result<Option<T>> {
        loop {
            let line = match memrchr(b'\n', &self.buffer) {
                Some(newline) => newline + 1,
                None if self.start == 0 => 0,
                None => {
                    self.read_more()?;
                    continue;
                }
            };
            let bytes = &self.buffer[line..];
            if bytes.is_empty() {
                if line == 0 {
                    return Ok(None);
                }
                self.buffer.truncate(line - 1);
                continue;
            }
            let span = Span { offset: self.start + line as u64, length: bytes.len() };
            let seen = look(span, bytes);
            self.buffer.truncate(line.saturating_sub(1));
            return Ok(Some(seen));
        }
    }

    /// Puts the chunk before the buffer in front of it. A line longer than the buffer doubles it.
    fn read_more(&mut self) -> io::Result<()> {
        let wanted = CHUNK.max(self.buffer.len()) as u64;
        let size = wanted.min(self.start);
        self.start -= size;
        self.file.seek(SeekFrom::Start(self.start))?;
        self.spare.clear();
        self.spare.resize(usize::try_from(size).unwrap_or(CHUNK), 0);
        self.file.read_exact(&mut self.spare)?;
        self.spare.extend_from_slice(&self.buffer);
        mem::swap(&mut self.buffer, &mut self.spare);
        Ok(())
    }
}

/// The first piece: a session that was compacted lately ends within it.
const FIRST_BLOCK: usize = CHUNK;

/// Later pieces: large enough to be worth sharing among threads.
const BLOCK: usize = 8 * 1024 * 1024;

/// Pieces of a file that consist of whole lines, last first.
#[derive(Debug)]
pub(crate) struct BackwardBlocks {
    file: File,
    /// The lines of this piece, after the end of a line whose start is not read yet.
    buffer: Vec<u8>,
    lines_from: usize,
    start: u64,
    next_size: usize,
}

impl BackwardBlocks {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let start = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, buffer: Vec::new(), lines_from: 0, start, next_size: FIRST_BLOCK })
    }

    /// The next piece towards the beginning, and its offset in the file; `None` at the start.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        self.buffer.truncate(self.lines_from);
        if self.start == 0 && self.buffer.is_empty() {
            return Ok(None);
        }
        loop {
            self.read_more()?;
            // The first line of the piece may have begun before it.
            let whole = match self.start {
                0 => Some(0),
                _ => memchr::memchr(b'\n', &self.buffer).map(|newline| newline + 1),
            };
            if let Some(from) = whole {
                self.lines_from = from;
                return Ok(Some((self.start + from as u64, &self.buffer[from..])));
            }
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        let size = usize::try_from(self.start).unwrap_or(usize::MAX).min(self.next_size);
        // A line longer than a piece doubles the next one.
        self.next_size = BLOCK.max(self.buffer.len());
        self.start -= size as u64;
        self.file.seek(SeekFrom::Start(self.start))?;
        let rest = self.buffer.len();
        self.buffer.resize(rest + size, 0);
        self.buffer.copy_within(..rest, size);
        self.file.read_exact(&mut self.buffer[..size])
    }
}

/// Lines of a file by their ranges. Cheap in file order.
#[derive(Debug)]
pub(crate) struct LineReader {
    file: File,
    window: Vec<u8>,
    window_start: u64,
}

impl LineReader {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, window: Vec::new(), window_start: 0 })
    }

    pub(crate) fn line(&mut self, span: Span) -> io::Result<&[u8]> {
        if self.in_window(span).is_none() {
            self.file.seek(SeekFrom::Start(span.offset))?;
            self.window_start = span.offset;
            self.window.clear();
            let size = span.length.max(CHUNK) as u64;
            Read::take(&mut self.file, size).read_to_end(&mut self.window)?;
        }
        let range = self.in_window(span).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(&self.window[range])
    }

    fn in_window(&self, span: Span) -> Option<Range<usize>> {
        let start = usize::try_from(span.offset.checked_sub(self.window_start)?).ok()?;
        let end = start.checked_add(span.length)?;
        (end <= self.window.len()).then_some(start..end)
    }
}
