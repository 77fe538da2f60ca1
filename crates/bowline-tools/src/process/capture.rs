//! The output of a command in bounded memory: all of it while it is short, then in a file, and
//! truncated in the middle beyond a limit.

use std::{
    borrow::Cow,
    collections::VecDeque,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// A file holds this much from the start; of what follows only the end is kept.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// How much of the end of a flood is kept.
const TAIL_BYTES: usize = 64 * 1024;

/// What a command has put out.
#[derive(Debug)]
pub(crate) struct Capture {
    head: Vec<u8>,
    memory: usize,
    total: u64,
    path: PathBuf,
    file: Option<File>,
    written: u64,
    tail: VecDeque<u8>,
}

impl Capture {
    /// Keeps `memory` bytes; more than that goes to a file at `path`.
    pub(crate) fn new(path: PathBuf, memory: usize) -> Self {
        let (head, tail) = (Vec::new(), VecDeque::new());
        Self { head, memory, total: 0, path, file: None, written: 0, tail }
    }

    /// Adds output.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.memory.saturating_sub(self.head.len()).min(bytes.len());
        if room < bytes.len()
            && self.file.is_none()
            && let Err(error) = self.spill()
        {
            tracing::warn!(path = %self.path.display(), %error, "output is not kept in full");
        }
        self.head.extend_from_slice(&bytes[..room]);
        self.total += bytes.len() as u64;
        self.write(bytes);
    }

    /// Puts the output into its file from now on, with what there was already.
    pub(crate) fn spill(&mut self) -> io::Result<PathBuf> {
        if self.file.is_none() {
            if let Some(dir) = self.path.parent() {
                bowline_private::folder(dir)?;
            }
            let mut file = bowline_private::create_new(&self.path)?;
            file.write_all(&self.head)?;
            self.written = self.head.len() as u64;
            self.file = Some(file);
        }
        Ok(self.path.clone())
    }

    /// Completes the file: what was left out in the middle is named, the end follows, and then
    /// `note`, which counts as output.
    pub(crate) fn end(&mut self, note: &str) {
        let Some(file) = &mut self.file else { return };
        let tail = self.tail.make_contiguous();
        let omitted = self.total.saturating_sub(self.written + tail.len() as u64);
        let mut text = Vec::new();
        if omitted > 0 {
            text.extend(format!("\n... [{omitted} bytes omitted] ...\n").into_bytes());
        }
        text.extend_from_slice(tail);
        text.extend_from_slice(note.as_bytes());
        if let Err(error) = file.write_all(&text) {
            tracing::warn!(path = %self.path.display(), %error, "end of output is not kept");
        }
        self.tail.clear();
        self.total += note.len() as u64;
        self.written = self.total;
    }

    /// The start of the output, as much as is in memory.
    pub(crate) fn head_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.head)
    }

    /// The end of the output, at most `max` bytes. A file that cannot be read any more counts as
    /// empty.
    pub(crate) fn end_text(&self, max: usize) -> String {
        let read = |path: &Path| -> io::Result<Vec<u8>> {
            let mut file = File::open(path)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(max as u64)))?;
            let mut bytes = Vec::new();
            file.take(max as u64).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        match self.file() {
            Some(path) => String::from_utf8_lossy(&read(path).unwrap_or_default()).into_owned(),
            None => {
                let start = self.head.len().saturating_sub(max);
                String::from_utf8_lossy(&self.head[start..]).into_owned()
            }
        }
    }

    /// Whether all of the output is in memory.
    pub(crate) fn is_whole(&self) -> bool {
        self.total == self.head.len() as u64
    }

    /// How many bytes there were in all.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The file, if the output is in one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.is_some().then_some(self.path.as_path())
    }

    // Written on this thread: the page cache takes a pipe's worth of bytes faster than another
    // thread could be woken.
    fn write(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let room = usize::try_from(MAX_FILE_BYTES.saturating_sub(self.written))
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let (kept, rest) = bytes.split_at(room);
        match file.write_all(kept) {
            Ok(()) => self.written += kept.len() as u64,
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "output is not kept in full");
            }
        }
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..surplus);
    }
}
