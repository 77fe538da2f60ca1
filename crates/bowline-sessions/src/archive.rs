//! Archiving of sessions: a mark beside the transcript, which a later prompt outdates.

use std::path::Path;

use bowline_protocol::SessionId;

use crate::{SessionError, archive_mark::ArchiveMark, edit::existing, project::ConfigHome};

/// Archives a session. It stays where it is and is listed as archived until its next prompt.
pub fn archive(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
) -> Result<(), SessionError> {
    mark(home, id, directory, true)
}

/// Makes a session an ordinary one again.
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
    let path = existing(home, id, directory)?.archive_mark();
    ArchiveMark::new(archived).write(&path).map_err(SessionError::io(&path))
}
