//! Copies of files from before tools changed them, prompt by prompt, so that a host can go back.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
};

use bowline_model::BoxFuture;
use bowline_protocol::MessageUuid;
use bowline_sessions::{Checkpoints, ConfigHome, Rewind, RewindReport, TranscriptLine};
use bowline_tools::{FileChange, FileObserver};

use super::Shared;
use crate::{config::SessionConfig, sink::new_uuid};

/// The copies of a session's files.
pub(crate) struct FileHistory {
    checkpoints: Arc<Mutex<Checkpoints>>,
    session: OnceLock<Weak<Shared>>,
}

impl FileHistory {
    /// The copies of the session that a configuration describes, if it wants any.
    pub(crate) fn of(config: &SessionConfig) -> Option<Arc<Self>> {
        if !config.file_checkpointing {
            return None;
        }
        let home = ConfigHome::new(&config.places.config_dir);
        let folder = home.file_history(&config.session_id);
        let transcript = config.transcript.as_ref().filter(|_| config.resumed.is_some());
        let known = transcript.and_then(|writer| {
            let directories = config.policy.directories();
            Checkpoints::load(&folder, &config.cwd, directories, writer.path()).ok()
        });
        let checkpoints = known.unwrap_or_else(|| Checkpoints::new(folder, &config.cwd));
        Some(Arc::new(Self {
            checkpoints: Arc::new(Mutex::new(checkpoints)),
            session: OnceLock::new(),
        }))
    }

    /// From now on, what is copied is written down in this session's transcript.
    pub(crate) fn belongs_to(&self, session: &Arc<Shared>) {
        // Called once, when the session is set up.
        self.session.set(Arc::downgrade(session)).ok();
    }

    /// A prompt comes: files that were changed before are copied anew.
    pub(crate) async fn begin(&self, prompt: &MessageUuid) {
        let prompt = prompt.clone();
        self.record(move |checkpoints| checkpoints.begin(&prompt).map(Some)).await;
    }

    /// Puts files back to what they were when a prompt came, or says what that would change.
    pub(crate) async fn rewind(&self, prompt: MessageUuid, rewind: Rewind) -> RewindReport {
        let rewound = self.blocking(move |checkpoints| checkpoints.rewind(&prompt, rewind)).await;
        rewound.unwrap_or_default()
    }

    /// Copies something and writes down that it was copied.
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
        if let (Some(session), Some(line)) = (self.session(), line) {
            session.emit_notice(session.journal.note(line)).await;
        }
    }

    /// Files may be large: they are copied where nobody else waits. `None` if that crashed.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Checkpoints) -> T + Send + 'static,
    ) -> Option<T> {
        let checkpoints = Arc::clone(&self.checkpoints);
        let work = move || work(&mut checkpoints.lock().unwrap_or_else(PoisonError::into_inner));
        tokio::task::spawn_blocking(work).await.ok()
    }

    fn session(&self) -> Option<Arc<Shared>> {
        self.session.get()?.upgrade()
    }
}

impl FileObserver for FileHistory {
    fn before_write<'a>(&'a self, change: FileChange<'a>) -> BoxFuture<'a, ()> {
        let path: PathBuf = change.path.to_owned();
        Box::pin(async move {
            // The last line of the transcript is, or follows, the answer that wants the change.
            let leaf = self
                .session()
                .and_then(|session| session.journal.with(|writer| writer.leaf().cloned()));
            let answer = leaf.unwrap_or_else(new_uuid);
            self.record(move |checkpoints| checkpoints.before_edit(&path, &answer)).await;
        })
    }
}
