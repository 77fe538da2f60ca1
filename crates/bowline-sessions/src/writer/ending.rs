//! How an answer ends, in lines that were written before it did.
//!
//! Why a model stopped and how much it said is known behind its last block, but each block is in the
//! file before anybody hears it. So the lines of an answer that is under way say what is known (no
//! reason, the first count) and have blanks behind that. [`OpenAnswer::end`] writes the rest into
//! them. Nothing else of a line ever changes, and no line moves.

use std::{
    fs::OpenOptions,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use bowline_protocol::{ApiMessage, RawJson, StopReason, Usage};
use serde::Serialize;

use crate::line::AssistantLine;

/// Blanks for a reason, for more digits, and for counts that come with the end only.
const BLANKS: usize = 160;

/// A process that is killed may leave a write half done where a page of the file ends, so that an
/// ending does not stand on both sides of such a place.
const PAGE: u64 = 4096;

/// The lines of an answer that is under way.
#[derive(Debug, Default)]
pub(super) struct OpenAnswer {
    /// The API's name for it.
    id: String,
    /// How much it had used when it began.
    first_count: Usage,
    /// What the lines say of its end, without blanks.
    unknown: String,
    lines: Vec<OpenLine>,
    /// How many of them are in the file.
    written: usize,
}

/// A line that waits for the end of its answer.
#[derive(Debug)]
struct OpenLine {
    /// Where in the file it says how the answer ended; before it is written, where in the batch.
    place: u64,
    /// How long that is, with blanks.
    length: usize,
    /// Which of the entries for a mirror it is.
    entry: Option<usize>,
}

/// How an answer ended, as its lines say it.
#[derive(Serialize)]
struct Ending<'a> {
    stop_reason: Option<&'a StopReason>,
    stop_sequence: Option<&'a str>,
    usage: &'a Usage,
}

impl Ending<'_> {
    /// As it stands among the other fields of the answer.
    fn fields(&self) -> String {
        let mut object = serde_json::to_string(self).expect("an ending always serializes");
        object.pop();
        object.remove(0);
        object
    }
}

impl OpenAnswer {
    /// Whether the answer of a line is under way.
    pub(super) fn has(line: &AssistantLine) -> bool {
        line.message.stop_reason.is_none() && !line.message.id.is_empty()
    }

    /// The answer that a line is the first of.
    pub(super) fn begin(line: &AssistantLine) -> Self {
        let ApiMessage { id, stop_sequence, usage, .. } = &line.message;
        let stop_sequence = stop_sequence.as_deref();
        let unknown = Ending { stop_reason: None, stop_sequence, usage }.fields();
        Self { id: id.clone(), first_count: usage.clone(), unknown, ..Self::default() }
    }

    /// Whether this is the answer of that name.
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
        // Quotes inside of strings are escaped, and only names and notes follow behind.
        let Some(at) = json.rfind(&self.unknown) else { return json.to_owned() };
        let behind = at + self.unknown.len();
        let length = self.unknown.len() + BLANKS;
        let left_in_page = PAGE - (in_file + at as u64) % PAGE;
        let gap = match usize::try_from(left_in_page) {
            Ok(left) if left < length => left,
            _ => 0,
        };
        self.lines.push(OpenLine { place: in_batch + (at + gap) as u64, length, entry });
        let (before, unknown, after) = (&json[..at], &json[at..behind], &json[behind..]);
        format!("{before}{:gap$}{unknown}{:BLANKS$}{after}", "", "")
    }

    /// The batch with its newest lines was written, at `base` of the file.
    pub(super) fn written(&mut self, base: u64) {
        for line in &mut self.lines[self.written..] {
            line.place += base;
        }
        self.written = self.lines.len();
    }

    /// Writes into the lines how the answer ended.
    pub(super) fn end(
        self,
        answer: &ApiMessage,
        path: &Path,
        mirrored: &mut [RawJson],
    ) -> io::Result<()> {
        let ending = Ending {
            stop_reason: answer.stop_reason.as_ref(),
            stop_sequence: answer.stop_sequence.as_deref(),
            usage: &answer.usage,
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
            file.seek(SeekFrom::Start(line.place))?;
            file.read_exact(&mut there)?;
            let fitting = [&known, &counts].into_iter().find(|text| text.len() <= line.length);
            // Somebody else's bytes are left alone.
            if let Some(text) = fitting.filter(|_| there == blank.as_bytes()) {
                file.seek(SeekFrom::Start(line.place))?;
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
        for place in self.lines.iter().filter_map(|line| line.entry) {
            let Some(entry) = entries.get_mut(place) else { continue };
            let Some(at) = entry.get().rfind(&self.unknown) else { continue };
            let mut text = entry.get().to_owned();
            text.replace_range(at..at + self.unknown.len(), known);
            if let Ok(ended) = RawJson::from_text(text) {
                *entry = ended;
            }
        }
    }
}
