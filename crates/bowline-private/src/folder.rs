//! Private folders.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::Path,
};

use crate::owner;

/// Makes a folder, and those above it that are missing, for its owner only (0700).
///
/// A folder that is there already is closed to others if it is ours, and refused if it is another
/// user's.
pub fn folder(path: &Path) -> io::Result<()> {
    make(path)?;
    close(path)
}

/// Makes a folder as [`folder`] does, but leaves the mode of one that is there: its owner chose it.
pub fn folder_as_it_is(path: &Path) -> io::Result<()> {
    make(path)
}

fn make(path: &Path) -> io::Result<()> {
    let is_missing = |path: &&Path| {
        let found = fs::metadata(path);
        !path.as_os_str().is_empty()
            && found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    let Some(first) = missing.last() else {
        let about = fs::metadata(path)?;
        return match about.is_dir() {
            true => owner::check(path, &about),
            false => Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                format!("{} is not a folder", path.display()),
            )),
        };
    };
    let parent = first.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    owner::check_parent(parent, &fs::metadata(parent)?)?;
    for folder in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o700).create(folder) {
            // The umask may have taken bits away that the owner needs.
            Ok(()) => close(folder)?,
            // Another thread of ours, or another process of the same user, was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                owner::check(folder, &fs::metadata(folder)?)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes the rights of others away from a folder that is ours.
pub(crate) fn close(path: &Path) -> io::Result<()> {
    let about = fs::metadata(path)?;
    if !owner::is_ours(&about) || about.mode() & 0o777 == 0o700 {
        return Ok(());
    }
    let closed = fs::set_permissions(path, Permissions::from_mode(about.mode() & 0o7000 | 0o700));
    // On a file system that keeps no modes there is nothing to close, unless others can write.
    closed.or_else(|error| if owner::is_open_to_writers(&about) { Err(error) } else { Ok(()) })
}
