//! Callbacks of a workspace to its embedder.

use std::{path::Path, sync::Arc};

use bowline_protocol::ToolUseId;
use futures_util::future::BoxFuture;

/// Sees files before tools change them (checkpoints).
pub trait FileObserver: Send + Sync + 'static {
    /// Called before the file is written; the write waits for it.
    fn before_write<'a>(&'a self, change: FileChange<'a>) -> BoxFuture<'a, ()>;
}

/// A file that is about to be written.
#[derive(Debug, Clone, Copy)]
pub struct FileChange<'a> {
    /// Its absolute path.
    pub path: &'a Path,
    /// What it holds now; `None` if it does not exist.
    pub before: Option<&'a [u8]>,
    /// The call that changes it.
    pub tool_use_id: &'a ToolUseId,
}

/// Knows files that must not be read, so that searches leave them out.
pub trait HiddenFiles: Send + Sync + 'static {
    /// The current predicate for such files; `None` if all files may be read.
    fn hidden(&self) -> Option<IsHidden>;
}

/// Whether a file must not be read.
pub type IsHidden = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// Summarizer of a page for a prompt, usually a small model.
pub trait Summarize: Send + Sync + 'static {
    /// Returns the summary, or an error that is shown to the model.
    fn summarize<'a>(
        &'a self,
        page: &'a str,
        prompt: &'a str,
    ) -> BoxFuture<'a, Result<String, String>>;
}
