//! Files as tools read and change them: encodings and line endings kept, writes atomic, concurrent
//! changes never overwritten.

mod change;
mod notebook;
mod patch;
mod text;
mod write;

use std::{io, path::Path, time::SystemTime};

pub(crate) use change::{Change, Freshness, freshness, modified_since_read, not_read, write};
pub(crate) use notebook::{Notebook, joined, new_cell};
pub(crate) use patch::structured_patch;
pub(crate) use text::TextFile;

use crate::{output::ToolFailure, workspace::Workspace};

/// A file as it is on disk now.
#[derive(Debug, Clone)]
pub(crate) struct OnDisk {
    pub(crate) bytes: Vec<u8>,
    pub(crate) modified: Option<SystemTime>,
}

/// Reads a whole file; `None` if there is none.
pub(crate) async fn load(path: &Path) -> io::Result<Option<OnDisk>> {
    let path = path.to_owned();
    blocking(move || {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let modified = std::fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
        Ok(Some(OnDisk { bytes, modified }))
    })
    .await
}

/// Runs file work where it may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(io::Error::other(error)),
    }
}

/// The text for a file that is not there: where we are, and a file of the same stem if one is
/// beside it.
pub(crate) fn missing(path: &Path, workspace: &Workspace) -> String {
    let here = workspace.current_dir();
    let mut text =
        format!("File does not exist. Note: your current working directory is {}.", here.display());
    let similar = path.parent().and_then(|dir| std::fs::read_dir(dir).ok()).and_then(|entries| {
        let mut names: Vec<_> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|other| other.file_stem() == path.file_stem() && other != path)
            .filter_map(|other| Some(other.file_name()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names.into_iter().next()
    });
    if let Some(name) = similar {
        text.push_str(&format!(" Did you mean {name}?"));
    }
    text
}

/// The text for a failed file operation, in the words models know.
pub(crate) fn explain(error: &io::Error, verb: &str, path: &Path) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::IsADirectory => {
            format!("EISDIR: illegal operation on a directory, {verb} '{path}'")
        }
        io::ErrorKind::PermissionDenied => format!("EACCES: permission denied, {verb} '{path}'"),
        _ => format!("Cannot {verb} '{path}': {error}"),
    }
}

/// The same as a failure of a running call.
pub(crate) fn failed(error: &io::Error, verb: &str, path: &Path) -> ToolFailure {
    ToolFailure::running(explain(error, verb, path))
}
