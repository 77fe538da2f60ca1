//! Changing a session as a whole: its title, its label, its existence.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use bowline_protocol::{Extra, SessionId};
use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::{CodePointMapData, props::GeneralCategory};

use crate::{
    SessionError,
    line::{CustomTitle, Tag, TranscriptLine},
    list::locate,
    lock::SessionLock,
    project::{ConfigHome, SessionFiles, is_session_id},
};

/// Gives a session a title.
pub fn rename(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
    title: &str,
) -> Result<(), SessionError> {
    let files = existing(home, id, directory)?;
    let title = title.trim();
    if title.is_empty() {
        return Err(SessionError::EmptyText("a title"));
    }
    let (custom_title, session_id, extra) = (title.to_owned(), id.clone(), Extra::new());
    append(&files, &CustomTitle { custom_title, session_id, extra }.into())
}

/// Gives a session a label; `None` takes it away.
pub fn tag(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
    label: Option<&str>,
) -> Result<(), SessionError> {
    let files = existing(home, id, directory)?;
    let tag = match label {
        None => String::new(),
        Some(label) => {
            let clean = clean(label);
            if clean.trim().is_empty() {
                return Err(SessionError::EmptyText("a tag"));
            }
            clean.trim().to_owned()
        }
    };
    append(&files, &Tag { tag, session_id: id.clone(), extra: Extra::new() }.into())
}

/// Deletes a session with its subagents, its large outputs and its copies of files. Refused while
/// a process writes it.
pub fn delete(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
) -> Result<(), SessionError> {
    let files = existing(home, id, directory)?;
    let _lock = SessionLock::acquire(&files)?;
    let transcript = files.transcript();
    fs::remove_file(&transcript).map_err(SessionError::io(&transcript))?;
    // The session is gone; leftover files can no longer be found.
    let _ = fs::remove_dir_all(files.side_folder());
    let _ = fs::remove_dir_all(home.file_history(id));
    Ok(())
}

/// A session that must be there.
pub(crate) fn existing(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
) -> Result<SessionFiles, SessionError> {
    if !is_session_id(id.as_str()) {
        return Err(SessionError::BadId(id.0.clone()));
    }
    locate(home, id, directory)
        .ok_or_else(|| SessionError::NotFound { target: id.0.clone(), nearest: Vec::new() })
}

/// Appends a note to a transcript that may be in use: one write, which others append around.
fn append(files: &SessionFiles, note: &TranscriptLine) -> Result<(), SessionError> {
    let path = files.transcript();
    let write = || -> io::Result<()> {
        let mut file = bowline_private::open(&path, OpenOptions::new().read(true).append(true))?;
        let mut text = String::new();
        if !ends_with_newline(&mut file)? {
            // A torn line stays torn, but does not spoil this one.
            text.push('\n');
        }
        text.push_str(&note.to_json());
        text.push('\n');
        file.write_all(text.as_bytes())
    };
    write().map_err(SessionError::io(&path))
}

fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    if file.seek(SeekFrom::End(-1)).is_err() {
        return Ok(true);
    }
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// A label in compatibility form (NFKC) without characters that cannot be seen.
fn clean(label: &str) -> String {
    // Taking characters out can make others combine, so until nothing changes; the bound is what
    // other writers have.
    const ROUNDS: usize = 10;
    let normalizer = ComposingNormalizerBorrowed::new_nfkc();
    let categories = CodePointMapData::<GeneralCategory>::new();
    let is_seen = |&c: &char| {
        !matches!(
            categories.get(c),
            GeneralCategory::Format | GeneralCategory::PrivateUse | GeneralCategory::Unassigned
        )
    };
    let mut text = label.to_owned();
    for _ in 0..ROUNDS {
        let next: String = normalizer.normalize(&text).chars().filter(is_seen).collect();
        if next == text {
            break;
        }
        text = next;
    }
    text
}
