//! The user's private folder in the system's temporary folder, which every user can write to.

use std::{
    env,
    ffi::OsStr,
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use tempfile::TempDir;

use crate::{folder, owner};

/// The user's folder in the system's temporary one: `claude-UID`, or a randomly named
/// one if another user owns that path.
pub fn temporary_folder() -> io::Result<PathBuf> {
    temporary_folder_in(&env::temp_dir())
}

/// The user's folder in `temporary`.
pub fn temporary_folder_in(temporary: &Path) -> io::Result<PathBuf> {
    folder::folder_as_it_is(temporary)?;
    let user = rustix::process::getuid().as_raw();
    let preferred = temporary.join(format!("claude-{user}"));
    match create_or_verify(&preferred) {
        Ok(()) => Ok(preferred),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            fallback_folder(temporary, &preferred, &error)
        }
        Err(error) => Err(error),
    }
}

/// Creates the folder, or checks that an existing one is ours. A symbolic link is refused: its owner
/// could retarget it later.
fn create_or_verify(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() || !owner::is_ours(&metadata) {
        return Err(owner::foreign(path, metadata.uid()));
    }
    folder::close(path)
}

/// A new folder with a random name in the system's temporary one, removed when it is dropped.
pub fn disposable_folder(prefix: &str) -> io::Result<TempDir> {
    with_prefix(prefix.as_ref(), &env::temp_dir())
}

fn with_prefix(prefix: &OsStr, temporary: &Path) -> io::Result<TempDir> {
    let private = Permissions::from_mode(0o700);
    let made =
        tempfile::Builder::new().prefix(prefix).permissions(private).tempdir_in(temporary)?;
    folder::close(made.path())?;
    Ok(made)
}

/// A randomly named fallback, shared by all sessions of this process.
fn fallback_folder(temporary: &Path, preferred: &Path, error: &io::Error) -> io::Result<PathBuf> {
    static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut made = MADE.lock();
    made.retain(|path| path.exists() && create_or_verify(path).is_ok());
    if let Some(path) = made.iter().find(|path| path.parent() == Some(temporary)) {
        return Ok(path.clone());
    }
    let mut prefix = preferred.file_name().unwrap_or_default().to_owned();
    prefix.push("-");
    let path = with_prefix(&prefix, temporary)?.keep();
    tracing::warn!(%error, fallback = %path.display(), "the usual temporary folder cannot be used");
    made.push(path.clone());
    Ok(path)
}
