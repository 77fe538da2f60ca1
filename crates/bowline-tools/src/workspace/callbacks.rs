//! What a workspace asks of whoever is outside.

use std::{path::Path, sync::Arc};

use bowline_protocol::ToolUseId;
use futures_util::future::BoxFuture;

/// Sees files before tools change them (checkpoints).
pub trait FileObserver: Send + Sync + 'static {
    /// Called before the file is written; the write waits for the answer.
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
    /// Tells such files from others, as things stand now; `None` if there are none.
    fn hidden(&self) -> Option<IsHidden>;
}

/// Whether a file must not be read.
pub type IsHidden = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// Answers a question about a page, usually with a small model.
pub trait Summarize: Send + Sync + 'static {
    /// The answer, or why there is none (shown to the model).
    fn summarize<'a>(
        &'a self,
        page: &'a str,
        prompt: &'a str,
    ) -> BoxFuture<'a, Result<String, String>>;
}
