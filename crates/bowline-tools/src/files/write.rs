//! Atomic writes of files.

use std::{
    fs::{self, Metadata, Permissions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, PermissionsExt, fchown},
    path::{Path, PathBuf},
};

/// What a new file may be to others, before the process's umask has its say.
const NEW_FILE_MODE: u32 = 0o666;

/// What a new file may be to its owner, where others have no business.
const PRIVATE_FILE_MODE: u32 = 0o600;

/// Why a file was not written.
#[derive(Debug)]
pub(super) enum NotWritten {
    /// It is no longer what it was.
    Changed,
    Failed(io::Error),
}

impl From<io::Error> for NotWritten {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Puts `bytes` in place of what is at `path`, which must still be `before`. Parent directories
/// are created; a symlink stays one and its target is written; owner and permissions stay. What is new
/// has the umask's permissions, or is for its owner only.
pub(super) fn replace(
    path: &Path,
    before: Option<&[u8]>,
    bytes: &[u8],
    private: bool,
) -> Result<(), NotWritten> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let dir = target.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
    match private {
        true => bowline_private::folder_as_it_is(&dir)?,
        false => fs::create_dir_all(&dir)?,
    }
    let old = fs::metadata(&target).ok();

    let mut temporary = match tempfile::Builder::new()
        .prefix(".bowline-")
        .permissions(Permissions::from_mode(if private {
            PRIVATE_FILE_MODE
        } else {
            NEW_FILE_MODE
        }))
        .tempfile_in(&dir)
    {
        Ok(temporary) => temporary,
        // A file may be ours to write in a directory that is not.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && old.is_some() => {
            unchanged(&target, before)?;
            return Ok(fs::write(&target, bytes)?);
        }
        Err(error) => return Err(error.into()),
    };
    temporary.write_all(bytes)?;
    if let Some(old) = &old {
        keep_owner_and_mode(temporary.as_file(), old)?;
    }
    unchanged(&target, before)?;
    match (before, old) {
        (None, None) => match temporary.persist_noclobber(&target) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(NotWritten::Changed)
            }
            Err(error) => Err(error.error.into()),
        },
        _ => match temporary.persist(&target) {
            Ok(_) => Ok(()),
            // A single file mounted into a container can be written but not replaced.
            Err(error) if error.error.kind() == io::ErrorKind::ResourceBusy => {
                Ok(fs::write(&target, bytes)?)
            }
            Err(error) => Err(error.error.into()),
        },
    }
}

fn unchanged(target: &Path, before: Option<&[u8]>) -> Result<(), NotWritten> {
    match (fs::read(target), before) {
        (Ok(now), Some(before)) if now == before => Ok(()),
        (Err(error), None) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        (Ok(_), _) => Err(NotWritten::Changed),
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Err(NotWritten::Changed),
        (Err(error), _) => Err(error.into()),
    }
}

fn keep_owner_and_mode(file: &fs::File, old: &Metadata) -> io::Result<()> {
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
        // Only a privileged process may; for others the file becomes theirs, as with any editor.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(old.permissions())
}
