//! Private files.

use std::{
    fs::{self, File, Metadata, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use rustix::{fs::OFlags, io::Errno};

use crate::owner;

/// Makes a new file (0600). One that is there already is an error.
pub fn create_new(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().write(true).create_new(true))
}

/// Makes a file, or empties the one that is there.
pub fn create(path: &Path) -> io::Result<File> {
    let file = open(path, OpenOptions::new().write(true).create(true).truncate(false))?;
    // Only now is it known whose it is.
    if !is_device(&file.metadata()?) {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Opens a file to append to it; makes it if there is none.
pub fn append(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true).append(true).create(true))
}

/// Writes a file, replacing its content.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    create(path)?.write_all(bytes.as_ref())
}

/// Replaces a file atomically: a reader sees the old or the new one.
pub fn replace(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let private = Permissions::from_mode(0o600);
    let mut file = tempfile::Builder::new()
        .prefix(".bowline-")
        .permissions(private)
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes.as_ref())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Opens a file in a private folder as `options` say. A new one is 0600; one that is there is closed to
/// others if it is ours, and refused if it is another user's.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = open_unless_misled(path, options)?;
    let about = file.metadata()?;
    if is_device(&about) {
        return Ok(file);
    }
    owner::check(path, &about)?;
    close(&file)?;
    Ok(file)
}

/// Opens a file that the user has named on the command line, wherever it is, to append to it or to write
/// it from its start.
pub fn named_file(path: &Path, append: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).append(append).create(true).truncate(false);
    let file = open_unless_misled(path, &mut options)?;
    let about = file.metadata()?;
    if is_device(&about) {
        return Ok(file);
    }
    // Others may have put it there, so it must be one that only we can read.
    if !owner::is_ours(&about) && about.mode() & owner::OTHERS != 0 {
        return Err(owner::foreign(path, about.uid()));
    }
    if about.nlink() > 1 {
        return Err(refused(path, "has another name elsewhere (a hard link)"));
    }
    close(&file)?;
    if !append {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Opens a file, but through no link that another user has made.
fn open_unless_misled(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let no_links = OFlags::NOFOLLOW.bits().cast_signed();
    let file = match options.mode(0o600).custom_flags(no_links).open(path) {
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            let link = fs::symlink_metadata(path)?;
            if !owner::is_ours(&link) && link.uid() != 0 {
                return Err(owner::foreign(path, link.uid()));
            }
            options.custom_flags(0).open(path)?
        }
        opened => opened?,
    };
    match file.metadata()?.is_dir() {
        true => Err(refused(path, "is a folder")),
        false => Ok(file),
    }
}

/// Whether what is written to it stays nowhere.
fn is_device(about: &Metadata) -> bool {
    let kind = about.file_type();
    kind.is_char_device() || kind.is_fifo() || kind.is_socket()
}

/// Takes the rights of others away from a file that is ours.
fn close(file: &File) -> io::Result<()> {
    let about = file.metadata()?;
    if !owner::is_ours(&about) || about.mode() & 0o777 == 0o600 {
        return Ok(());
    }
    let closed = file.set_permissions(Permissions::from_mode(0o600));
    closed.or_else(|error| if owner::is_open_to_writers(&about) { Err(error) } else { Ok(()) })
}

fn refused(path: &Path, why: &str) -> io::Error {
    let message = format!("{} {why}; remove it or use another file", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}
