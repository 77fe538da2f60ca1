//! Ownership checks of folders and files.

use std::{
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
};

/// The bits that let others in.
pub(crate) const OTHERS: u32 = 0o077;
/// The bits that let others write.
const OTHERS_WRITE: u32 = 0o022;
/// In such a folder only an entry's owner can rename or remove it.
const STICKY: u32 = 0o1000;

/// The user whose files these are to be.
pub(crate) fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether it is ours.
pub(crate) fn is_ours(about: &Metadata) -> bool {
    about.uid() == me()
}

/// Whether what others have no business with may be kept in `path`, which is `about`.
///
/// Root is trusted, it can read everything anyway. For root itself the folder of another user is its
/// home in a container, except below a folder that everybody can write to.
pub(crate) fn check(path: &Path, about: &Metadata) -> io::Result<()> {
    let trusted = is_ours(about) || about.uid() == 0 || (me() == 0 && !is_in_shared_folder(path));
    if trusted { Ok(()) } else { Err(foreign(path, about.uid())) }
}

/// Whether a private folder may be made in `path`, which is `about`.
pub(crate) fn check_parent(path: &Path, about: &Metadata) -> io::Result<()> {
    if about.mode() & STICKY != 0 { Ok(()) } else { check(path, about) }
}

/// Whether others could write to it.
pub(crate) fn is_open_to_writers(about: &Metadata) -> bool {
    about.mode() & OTHERS_WRITE != 0
}

/// Why something is refused.
pub(crate) fn foreign(path: &Path, owner: u32) -> io::Error {
    let message = format!(
        "{} belongs to another user (uid {owner}), who could read or replace what is kept there; \
         remove it or use another path",
        path.display()
    );
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

fn is_in_shared_folder(path: &Path) -> bool {
    let real = fs::canonicalize(path);
    let above = real.as_deref().unwrap_or(path).ancestors().skip(1);
    above.filter_map(|folder| fs::metadata(folder).ok()).any(|about| about.mode() & STICKY != 0)
}
