//! File history: copies of files from before tools changed them, prompt by prompt, for rewinding.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_model::BoxFuture;
use bowline_protocol::MessageUuid;
use bowline_sessions::{Checkpoints, ConfigHome, Rewind, RewindReport, TranscriptLine};
use bowline_tools::{FileChange, FileObserver};
use parking_lot::Mutex;

use crate::{
    config::SessionConfig,
    journal::Journal,
    sink::{MessageSink, new_uuid},
};

/// The copies of a session's files.
pub(crate) struct FileHistory {
    checkpoints: Arc<Mutex<Checkpoints>>,
    journal: Arc<Journal>,
    sink: Arc<MessageSink>,
}

impl FileHistory {
    /// The copies of the session of a configuration, if it enables them.
    pub(crate) fn of(
        config: &SessionConfig,
        directories: &[PathBuf],
        transcript: Option<&Path>,
        journal: &Arc<Journal>,
        sink: &Arc<MessageSink>,
    ) -> Option<Arc<Self>> {
        if !config.file_checkpointing {
            return None;
        }
        let home = ConfigHome::new(&config.places.config_dir);
        let folder = home.file_history(&config.session_id);
        let transcript = transcript.filter(|_| config.resumed.is_some());
        let known = transcript.and_then(|transcript| {
            let directories = directories.iter().map(PathBuf::as_path);
            Checkpoints::load(&folder, &config.cwd, directories, transcript).ok()
        });
        let checkpoints = known.unwrap_or_else(|| Checkpoints::new(folder, &config.cwd));
        Some(Arc::new(Self {
            checkpoints: Arc::new(Mutex::new(checkpoints)),
            journal: Arc::clone(journal),
            sink: Arc::clone(sink),
        }))
    }

    /// Begins a prompt: files that were changed before are copied again.
    pub(crate) async fn begin(&self, prompt: &MessageUuid) {
        let prompt = prompt.clone();
        self.record(move |checkpoints| checkpoints.begin(&prompt).map(Some)).await;
    }

    /// Restores files to their state at a prompt, or reports what that would change.
    pub(crate) async fn rewind(&self, prompt: MessageUuid, rewind: Rewind) -> RewindReport {
        let rewound = self.blocking(move |checkpoints| checkpoints.rewind(&prompt, rewind)).await;
        rewound.unwrap_or_default()
    }

    /// Copies a file and records the copy in the transcript.
    async fn record(
        &self,
        copy: impl FnOnce(&mut Checkpoints) -> io::Result<Option<TranscriptLine>> + Send + 'static,
    ) {
        let line = match self.blocking(copy).await {
            Some(Ok(line)) => line,
            Some(Err(error)) => {
                tracing::warn!(%error, "a file could not be copied before it was changed");
                return;
            }
            None => return,
        };
        if let Some(line) = line {
            self.sink.emit_notice(self.journal.note(line)).await;
        }
    }

    /// Runs on a blocking thread, because files may be large. `None` if that panicked.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Checkpoints) -> T + Send + 'static,
    ) -> Option<T> {
        let checkpoints = Arc::clone(&self.checkpoints);
        let work = move || work(&mut checkpoints.lock());
        tokio::task::spawn_blocking(work).await.ok()
    }
}

impl FileObserver for FileHistory {
    fn before_write<'a>(&'a self, change: FileChange<'a>) -> BoxFuture<'a, ()> {
        let path: PathBuf = change.path.to_owned();
        Box::pin(async move {
            // The last line of the transcript is, or follows, the response that requests the change.
            let leaf = self.journal.with(|writer| writer.leaf().cloned());
            let response = leaf.unwrap_or_else(new_uuid);
            self.record(move |checkpoints| checkpoints.before_edit(&path, &response)).await;
        })
    }
}
