//! Lines that wait on disk: first in, first out, in temporary files that nobody else sees.
//!
//! Lines are gathered into blocks, a block is written and read back in one go, and
//! a file is given back to the system once it has been read. Memory holds one block
//! on the way in and one on the way out, whatever waits in between.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    mem,
};

use bowline_protocol::Line;

/// Lines are written to disk when this many bytes have gathered.
const BLOCK: usize = 256 * 1024;

/// A new file is begun after this many bytes, so that what was read can be given back.
const SEGMENT: u64 = 64 * 1024 * 1024;

/// Lines that wait on disk: first in, first out.
#[derive(Debug, Default)]
pub struct Spill {
    segments: VecDeque<Segment>,
    /// The block that is still gathering.
    tail: Vec<u8>,
}

/// One file and the lengths of the blocks in it that are still to be read.
#[derive(Debug)]
struct Segment {
    file: File,
    blocks: VecDeque<usize>,
    read: u64,
    written: u64,
}

impl Spill {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.tail.is_empty()
    }

    /// Appends a line. After an error the line is kept all the same, in memory.
    pub fn push(&mut self, line: Line<&str>) -> io::Result<()> {
        encode(line, &mut self.tail);
        if self.tail.len() < BLOCK {
            return Ok(());
        }
        if self.segments.back().is_none_or(|segment| segment.written >= SEGMENT) {
            self.segments.push_back(Segment::new()?);
        }
        if let Some(segment) = self.segments.back_mut() {
            segment.append(&self.tail)?;
            self.tail.clear();
        }
        Ok(())
    }

    /// Takes the oldest lines, as many as were written together; none if nothing waits.
    pub fn pop_block(&mut self) -> io::Result<Vec<Line>> {
        // A file that could not be written to holds nothing.
        while self.segments.front().is_some_and(Segment::is_read) {
            self.segments.pop_front();
        }
        let block = match self.segments.front_mut() {
            Some(segment) => segment.pop_block()?,
            None => mem::take(&mut self.tail),
        };
        if self.segments.front().is_some_and(Segment::is_read) {
            self.segments.pop_front();
        }
        decode(&block)
    }
}

impl Segment {
    fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, blocks: VecDeque::new(), read: 0, written: 0 })
    }

    fn append(&mut self, block: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.written))?;
        self.file.write_all(block)?;
        self.written += block.len() as u64;
        self.blocks.push_back(block.len());
        Ok(())
    }

    fn is_read(&self) -> bool {
        self.blocks.is_empty()
    }

    fn pop_block(&mut self) -> io::Result<Vec<u8>> {
        let mut block = vec![0; self.blocks.pop_front().unwrap_or_default()];
        self.file.seek(SeekFrom::Start(self.read))?;
        self.file.read_exact(&mut block)?;
        self.read += block.len() as u64;
        Ok(block)
    }
}

/// Number, offset and length of the text, then the text.
const HEADER: usize = 3 * size_of::<u64>();

fn encode(line: Line<&str>, block: &mut Vec<u8>) {
    block.reserve(HEADER + line.text.len());
    for field in [line.number, line.offset, line.text.len() as u64] {
        block.extend_from_slice(&field.to_le_bytes());
    }
    block.extend_from_slice(line.text.as_bytes());
}

fn decode(mut block: &[u8]) -> io::Result<Vec<Line>> {
    fn field(block: &mut &[u8]) -> io::Result<u64> {
        let (field, rest) = block.split_first_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
        *block = rest;
        Ok(u64::from_le_bytes(*field))
    }

    let mut lines = Vec::new();
    while !block.is_empty() {
        let (number, offset) = (field(&mut block)?, field(&mut block)?);
        let length = usize::try_from(field(&mut block)?).map_err(io::Error::other)?;
        let (text, rest) = block.split_at_checked(length).ok_or(io::ErrorKind::UnexpectedEof)?;
        block = rest;
        let text = String::from_utf8(text.to_vec()).map_err(io::Error::other)?;
        lines.push(Line { number, offset, text });
    }
    Ok(lines)
}
