//! Appending a batch, and what happens when that fails.

use std::{
    fs,
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use super::{State, TranscriptWriter};
use crate::{SessionError, lock::SessionLock};

/// Durability of a flush.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sync {
    /// The lines are with the operating system: they survive `kill -9`, not a power cut.
    #[default]
    Never,
    /// The lines are on the disk when the flush returns.
    EachFlush,
}

/// Outcome of a batch.
#[derive(Debug)]
#[must_use]
pub enum Flushed {
    /// It is written.
    Written {
        /// Number of lines.
        lines: usize,
    },
    /// Writing failed for the first time; the user should know that the session is not kept.
    Failed(WriteFailure),
    /// Writing had failed before; the batch is dropped.
    Dropped,
}

/// Error after which a session is no longer saved.
#[derive(Debug, thiserror::Error)]
#[error("this session is no longer saved: {error}")]
pub struct WriteFailure {
    /// What went wrong.
    #[from]
    pub error: SessionError,
}

impl WriteFailure {
    /// The name of what went wrong, as in `ENOSPC`.
    pub fn code(&self) -> &'static str {
        let SessionError::Io { source, .. } = &self.error else { return "EUNKNOWN" };
        match source.kind() {
            io::ErrorKind::StorageFull => "ENOSPC",
            io::ErrorKind::QuotaExceeded => "EDQUOT",
            io::ErrorKind::ReadOnlyFilesystem => "EROFS",
            io::ErrorKind::PermissionDenied => "EACCES",
            io::ErrorKind::NotADirectory => "ENOTDIR",
            io::ErrorKind::NotFound => "ENOENT",
            _ => "EIO",
        }
    }
}

impl TranscriptWriter {
    /// Appends everything added since the last flush, in one piece.
    pub fn flush(&mut self) -> Flushed {
        if self.pending_lines > 0 {
            self.repeat_names();
        }
        let lines = std::mem::take(&mut self.pending_lines);
        if lines == 0 {
            return Flushed::Written { lines };
        }
        if matches!(self.state, State::Failed) {
            self.drop_pending(lines);
            return Flushed::Dropped;
        }
        match self.write_pending() {
            Ok(()) => {
                self.pending.clear();
                Flushed::Written { lines }
            }
            Err(error) => {
                self.state = State::Failed;
                self.drop_pending(lines);
                Flushed::Failed(WriteFailure { error })
            }
        }
    }

    /// Repeats the names of the session where a listing would no longer find them.
    fn repeat_names(&mut self) {
        self.hear_others();
        let end = self.end + self.pending.len() as u64;
        for line in self.names.due(end, self.files.id()) {
            self.add(&line);
        }
    }

    fn drop_pending(&mut self, lines: usize) {
        self.pending.clear();
        self.open = None;
        self.dropped += lines as u64;
    }

    fn write_pending(&mut self) -> Result<(), SessionError> {
        if let State::Unborn { lock } = &self.state {
            self.state = self.give_birth(lock.clone())?;
        }
        let State::Open { file, .. } = &mut self.state else { return Ok(()) };
        let in_file = SessionError::io(&self.path);
        let before = file.metadata().map(|metadata| metadata.len());
        let written = file.write_all(&self.pending).and_then(|()| match self.sync {
            Sync::Never => Ok(()),
            Sync::EachFlush => file.sync_data(),
        });
        match (&written, before) {
            // A half-written batch must not stay: its last line would be torn.
            (Err(_), Ok(before)) => file.set_len(before).unwrap_or_default(),
            (Ok(()), Ok(before)) => {
                self.end = before + self.pending.len() as u64;
                self.open.iter_mut().for_each(|open| open.written(before));
            }
            (_, Err(_)) => {}
        }
        written.map_err(in_file)
    }

    fn give_birth(&self, lock: Option<Arc<SessionLock>>) -> Result<State, SessionError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        bowline_private::folder(folder).map_err(SessionError::io(folder))?;
        let lock = match lock {
            Some(lock) => lock,
            None => {
                let project = self.files.project_folder();
                bowline_private::folder(project).map_err(SessionError::io(project))?;
                Arc::new(SessionLock::acquire(&self.files)?)
            }
        };
        // With the lock held, no other process can have created it.
        if has_lines(&self.path) {
            return Err(SessionError::InUse(self.files.id().clone()));
        }
        let file = bowline_private::append(&self.path).map_err(SessionError::io(&self.path))?;
        Ok(State::Open { file, lock })
    }
}

/// Whether a transcript was begun.
pub(super) fn has_lines(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
}
