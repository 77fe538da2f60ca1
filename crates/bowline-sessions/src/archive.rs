//! Sessions that are put aside: a mark beside the transcript, which a later prompt outdates.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use bowline_protocol::SessionId;
use serde::{Deserialize, Serialize};

use crate::{
    SessionError, clock,
    edit::existing,
    info::{Ends, is_prompt_after},
    project::ConfigHome,
};

/// More is no mark of ours, nor of anybody's.
const LARGEST_MARK: u64 = 4096;

/// The mark, as the TypeScript SDK reads and writes it.
#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    archived: bool,
    at: String,
    #[serde(default)]
    by: String,
}

/// Puts a session aside. It stays where it is and is listed as archived until somebody says
/// something in it.
pub fn archive(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
) -> Result<(), SessionError> {
    mark(home, id, directory, true)
}

/// Takes a session up from where it was put aside.
pub fn unarchive(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
) -> Result<(), SessionError> {
    mark(home, id, directory, false)
}

fn mark(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
    archived: bool,
) -> Result<(), SessionError> {
    let files = existing(home, id, directory)?;
    let path = files.archive_mark();
    let mark = Mark { archived, at: clock::now(), by: "bowline".to_owned() };
    write(&path, &mark).map_err(SessionError::io(&path))
}

fn write(path: &Path, mark: &Mark) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        bowline_private::folder(folder)?;
    }
    bowline_private::replace(path, serde_json::to_vec(mark)?)
}

/// Whether a session is put aside; `None` if it never was.
pub(crate) fn is_archived(mark: &Path, ends: &Ends) -> Option<bool> {
    let mut text = Vec::new();
    File::open(mark).ok()?.take(LARGEST_MARK + 1).read_to_end(&mut text).ok()?;
    let mark: Mark = serde_json::from_slice(&text).ok()?;
    let at = clock::to_millis(&mark.at)?;
    let said_since = || ends.parts().any(|part| part.lines().any(|it| is_prompt_after(it, at)));
    Some(mark.archived && !said_since())
}
