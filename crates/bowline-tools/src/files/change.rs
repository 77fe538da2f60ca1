//! The rules for changing a file that others may have changed too.

use std::path::Path;

use bowline_protocol::ToolUseId;

use super::{
    OnDisk, TextFile, blocking, explain,
    write::{NotWritten, replace},
};
use crate::{
    output::ToolFailure,
    workspace::{FileChange, SeenFile, Workspace},
};

/// How a file stands to what the conversation has seen of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// Never seen here.
    Unseen,
    /// As it was seen.
    Current {
        /// Whether the model saw only a part of it.
        partial: bool,
    },
    /// Changed by another program since.
    Stale,
}

/// How the file stands to what was seen of it.
pub(crate) fn freshness(workspace: &Workspace, path: &Path, file: &OnDisk) -> Freshness {
    match workspace.seen().get(path) {
        None => Freshness::Unseen,
        Some(seen) if seen.is_current(&file.bytes, file.modified) => {
            Freshness::Current { partial: seen.partial }
        }
        Some(_) => Freshness::Stale,
    }
}

pub(crate) fn not_read() -> ToolFailure {
    ToolFailure::input("File has not been read yet. Read it first before writing to it.")
}

pub(crate) fn modified_since_read() -> ToolFailure {
    ToolFailure::input(
        "File has been modified since read, either by the user or by another program. Read it \
         again before attempting to write it.",
    )
}

/// A change to one file.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    pub(crate) path: &'a Path,
    /// What the change was computed from; `None` if there was no file.
    pub(crate) before: Option<&'a OnDisk>,
    pub(crate) text: &'a str,
    pub(crate) tool_use_id: &'a ToolUseId,
    /// Whether the model knows the whole file afterwards.
    pub(crate) partial: bool,
}

/// Writes a change: shows it to the observer first, keeps encoding and line endings, refuses if
/// another program was faster, and records the file as seen.
pub(crate) async fn write(workspace: &Workspace, change: Change<'_>) -> Result<(), ToolFailure> {
    let Change { path, before, text, tool_use_id, partial } = change;
    let bytes = match before {
        Some(file) => {
            let old = TextFile::decode(&file.bytes);
            if old.damaged {
                return Err(ToolFailure::running(format!(
                    "{} is not a text file in UTF-8 or UTF-16; nothing was written.",
                    path.display()
                )));
            }
            old.encode(text)
        }
        None => text.as_bytes().to_vec(),
    };
    let before = before.map(|file| file.bytes.as_slice());
    if let Some(observer) = workspace.file_observer() {
        observer.before_write(FileChange { path, before, tool_use_id }).await;
    }
    let (target, old) = (path.to_owned(), before.map(<[u8]>::to_vec));
    let private = workspace.is_private(path);
    let written = blocking(move || {
        let result = replace(&target, old.as_deref(), &bytes, private);
        let modified = std::fs::metadata(&target).and_then(|metadata| metadata.modified()).ok();
        Ok(result.map(|()| SeenFile::new(&bytes, modified)))
    });
    match written.await {
        Ok(Ok(seen)) => {
            workspace.seen().record(path, seen.partial(partial));
            Ok(())
        }
        Ok(Err(NotWritten::Changed)) => Err(modified_since_read()),
        Ok(Err(NotWritten::Failed(error))) | Err(error) => {
            Err(ToolFailure::running(explain(&error, "write", path)))
        }
    }
}
