//! Server-sent events: bytes in, events out, however the bytes are cut. No I/O.

use std::{collections::VecDeque, mem};

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Its name; none if the server gave none.
    pub name: Option<String>,
    /// Its data; the lines of several `data` fields are joined.
    pub data: String,
}

/// An event longer than [`SseParser::LONGEST_EVENT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is longer than {} MiB", SseParser::LONGEST_EVENT >> 20)]
pub struct EventTooLong;

/// An incremental reader of an event stream.
#[derive(Debug, Default)]
pub struct SseParser {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// A line feed right after a carriage return belongs to it.
    after_return: bool,
    /// Whether the first line, which may start with a byte order mark, has been read.
    past_first_line: bool,
    name: Option<String>,
    data: Option<String>,
    ready: VecDeque<SseEvent>,
}

impl SseParser {
    /// No event of a model comes near it; a server that sends one is broken, and we
    /// do not want to keep it all in memory.
    pub const LONGEST_EVENT: usize = bowline_protocol::MAX_LINE_BYTES;

    /// Takes the next bytes.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), EventTooLong> {
        if bytes.is_empty() {
            return Ok(());
        }
        if mem::take(&mut self.after_return) && bytes[0] == b'\n' {
            bytes = &bytes[1..];
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let rest = match (bytes[end], bytes.get(end + 1)) {
                (b'\r', Some(b'\n')) => &bytes[end + 2..],
                (b'\r', None) => {
                    self.after_return = true;
                    &[]
                }
                _ => &bytes[end + 1..],
            };
            self.line.extend_from_slice(&bytes[..end]);
            let mut line = mem::take(&mut self.line);
            self.end_line(&line);
            line.clear();
            self.line = line;
            bytes = rest;
        }
        self.line.extend_from_slice(bytes);
        let length = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if length > Self::LONGEST_EVENT { Err(EventTooLong) } else { Ok(()) }
    }

    /// The next event that is complete.
    pub fn next_event(&mut self) -> Option<SseEvent> {
        self.ready.pop_front()
    }

    /// The event that the end of the stream completes: one whose lines all ended,
    /// though the blank line after them never came. Some servers close that way.
    pub fn finish(&mut self) -> Option<SseEvent> {
        self.line.clear();
        self.end_event();
        self.next_event()
    }

    fn end_line(&mut self, line: &[u8]) {
        let first = !mem::replace(&mut self.past_first_line, true);
        let line = match line.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if first => rest,
            _ => line,
        };
        if line.is_empty() {
            return self.end_event();
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = Some(value.to_owned()),
            "data" => self.add_data(value),
            // No field of the standard, but how older llama.cpp servers report errors.
            "error" => {
                self.name = Some("error".to_owned());
                self.add_data(value);
            }
            // Comments (no name before the colon), ids and reconnection times.
            _ => {}
        }
    }

    fn add_data(&mut self, value: &str) {
        match &mut self.data {
            None => self.data = Some(value.to_owned()),
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
        }
    }

    fn end_event(&mut self) {
        let name = self.name.take().filter(|name| !name.is_empty());
        if let Some(data) = self.data.take() {
            self.ready.push_back(SseEvent { name, data });
        }
    }
}
