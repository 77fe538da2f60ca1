//! End of a response (stop reason, usage), written into lines that are already on disk.
//!
//! Stop reason and usage are known after the last block, but each block is in the
//! file before it is emitted. So the lines of an unfinished response have what is known (no
//! reason, the first count) and blanks after that. [`OpenResponse::end`] writes the rest into
//! them. Nothing else of a line ever changes, and no line moves.

use std::{
    fs::OpenOptions,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use bowline_protocol::{ApiMessage, RawJson, StopReason, Usage};
use serde::Serialize;

use crate::line::AssistantLine;

/// Padding for a stop reason, for more digits, and for counts that come with the end only.
const BLANKS: usize = 160;

/// A process that is killed may leave a write half done where a page of the file ends, so that an
/// end is not written across such a boundary.
const PAGE: u64 = 4096;

/// Lines of an unfinished response.
#[derive(Debug, Default)]
pub(super) struct OpenResponse {
    /// Id of the response.
    id: String,
    /// Usage at its start.
    first_count: Usage,
    /// Fields of the end as first written, without padding.
    unknown: String,
    lines: Vec<OpenLine>,
    /// Number of lines that are in the file.
    written: usize,
}

/// A line that waits for the end of its response.
#[derive(Debug)]
struct OpenLine {
    /// Offset of the end fields in the file; before the write, in the batch.
    offset: u64,
    /// Length with padding.
    length: usize,
    /// Index among the entries for a mirror.
    entry: Option<usize>,
}

/// End of a response, as in its lines.
#[derive(Serialize)]
struct Ending<'a> {
    stop_reason: Option<&'a StopReason>,
    stop_sequence: Option<&'a str>,
    usage: &'a Usage,
}

impl Ending<'_> {
    /// As fields of the response object.
    fn fields(&self) -> String {
        let mut object = serde_json::to_string(self).expect("an ending always serializes");
        object.pop();
        object.remove(0);
        object
    }
}

impl OpenResponse {
    /// Whether the response of a line is unfinished.
    pub(super) fn has(line: &AssistantLine) -> bool {
        line.message.stop_reason.is_none() && !line.message.id.is_empty()
    }

    /// Starts with the first line of a response.
    pub(super) fn begin(line: &AssistantLine) -> Self {
        let ApiMessage { id, stop_sequence, usage, .. } = &line.message;
        let stop_sequence = stop_sequence.as_deref();
        let unknown = Ending { stop_reason: None, stop_sequence, usage }.fields();
        Self { id: id.clone(), first_count: usage.clone(), unknown, ..Self::default() }
    }

    /// Whether this is the response of that id.
    pub(super) fn is(&self, id: &str) -> bool {
        self.id == id
    }

    /// Makes room in a line that will stand at `in_batch` of its batch and at `in_file` of the file.
    pub(super) fn make_room(
        &mut self,
        json: &str,
        (in_batch, in_file): (u64, u64),
        entry: Option<usize>,
    ) -> String {
        // Quotes inside of strings are escaped, and only names and notes follow.
        let Some(at) = json.rfind(&self.unknown) else { return json.to_owned() };
        let after_unknown = at + self.unknown.len();
        let length = self.unknown.len() + BLANKS;
        let left_in_page = PAGE - (in_file + at as u64) % PAGE;
        let gap = match usize::try_from(left_in_page) {
            Ok(left) if left < length => left,
            _ => 0,
        };
        self.lines.push(OpenLine { offset: in_batch + (at + gap) as u64, length, entry });
        let (before, unknown, after) =
            (&json[..at], &json[at..after_unknown], &json[after_unknown..]);
        format!("{before}{:gap$}{unknown}{:BLANKS$}{after}", "", "")
    }

    /// The batch with its newest lines was written, at `base` of the file.
    pub(super) fn written(&mut self, base: u64) {
        for line in &mut self.lines[self.written..] {
            line.offset += base;
        }
        self.written = self.lines.len();
    }

    /// Writes the end of the response into the lines.
    pub(super) fn end(
        self,
        response: &ApiMessage,
        path: &Path,
        mirrored: &mut [RawJson],
    ) -> io::Result<()> {
        let ending = Ending {
            stop_reason: response.stop_reason.as_ref(),
            stop_sequence: response.stop_sequence.as_deref(),
            usage: &response.usage,
        };
        let known = ending.fields();
        if known == self.unknown {
            return Ok(());
        }
        self.end_entries(&known, mirrored);
        let mut file = bowline_private::open(path, OpenOptions::new().read(true).write(true))?;
        let counts = self.counts_only(&ending);
        for line in &self.lines[..self.written] {
            let blank = format!("{:1$}", self.unknown, line.length);
            let mut there = vec![0; line.length];
            file.seek(SeekFrom::Start(line.offset))?;
            file.read_exact(&mut there)?;
            let fitting = [&known, &counts].into_iter().find(|text| text.len() <= line.length);
            // Bytes of another writer are left alone.
            if let Some(text) = fitting.filter(|_| there == blank.as_bytes()) {
                file.seek(SeekFrom::Start(line.offset))?;
                file.write_all(format!("{text:0$}", line.length).as_bytes())?;
            }
        }
        Ok(())
    }

    /// An ending without the counts that only came with it.
    fn counts_only(&self, ending: &Ending<'_>) -> String {
        let usage = Usage { extra: self.first_count.extra.clone(), ..ending.usage.clone() };
        Ending { usage: &usage, stop_sequence: None, ..*ending }.fields()
    }

    fn end_entries(&self, known: &str, entries: &mut [RawJson]) {
        for offset in self.lines.iter().filter_map(|line| line.entry) {
            let Some(entry) = entries.get_mut(offset) else { continue };
            let Some(at) = entry.get().rfind(&self.unknown) else { continue };
            let mut text = entry.get().to_owned();
            text.replace_range(at..at + self.unknown.len(), known);
            if let Ok(ended) = RawJson::from_text(text) {
                *entry = ended;
            }
        }
    }
}
