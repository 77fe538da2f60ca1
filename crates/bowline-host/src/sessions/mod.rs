//! Sessions that were kept: listed, read, searched, renamed, tagged, archived, forked, deleted.
//!
//! The same for sessions in files and for sessions in a store; what the official SDKs' functions
//! give for the same files, these give.

mod disk;
mod error;
mod stored;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_protocol::{AgentId, SessionId};
pub use bowline_sessions::{
    ConfigHome, ForkOptions, ListOptions, MessageAuthor, Page, SearchHit, SessionError,
    SessionInfo, SessionMessage, Transcripts,
};

pub use self::error::SessionsError;
use self::stored::Stored;
use crate::store::SessionStore;

/// The sessions of a user, in the files of agents or in a store.
///
/// ```
/// use bowline_host::{Sessions, sessions::{ListOptions, Page}};
///
/// # async fn run() -> Result<(), bowline_host::SessionsError> {
/// let sessions = Sessions::of_bowline().for_directory("/srv/project");
/// for session in sessions.list(&ListOptions::default()).await? {
///     let messages = sessions.messages(&session.session_id, Page::default()).await?;
///     println!("{}: {} messages", session.summary, messages.len());
/// }
/// # Ok(())
/// # }
/// ```
///
/// Reading gives nothing for a session that is not there; changing one that is not there is an
/// error.
#[derive(Clone)]
pub struct Sessions {
    source: SessionSource,
    /// Only those of this directory, with the other worktrees of its repository.
    directory: Option<PathBuf>,
}

#[derive(Clone)]
enum SessionSource {
    Disk(ConfigHome),
    Store(Arc<dyn SessionStore>),
}

impl Sessions {
    /// Those of `bowline`: in `BOWLINE_CONFIG_DIR`, else `CLAUDE_CONFIG_DIR`, else `~/.bowline`.
    pub fn of_bowline() -> Self {
        Self::in_folder(folder(&["BOWLINE_CONFIG_DIR", "CLAUDE_CONFIG_DIR"], ".bowline"))
    }

    /// Those of the official CLI: in `CLAUDE_CONFIG_DIR`, else `~/.claude`.
    pub fn of_claude() -> Self {
        Self::in_folder(folder(&["CLAUDE_CONFIG_DIR"], ".claude"))
    }

    /// Those in a configuration folder.
    pub fn in_folder(config: impl Into<PathBuf>) -> Self {
        Self { source: SessionSource::Disk(ConfigHome::new(config.into())), directory: None }
    }

    /// Those in a store. They are found by the directory they belong to, so name it with
    /// [`for_directory`](Self::for_directory).
    pub fn in_store(store: Arc<dyn SessionStore>) -> Self {
        Self { source: SessionSource::Store(store), directory: None }
    }

    /// Only those of this directory. Its repository's other worktrees count, too, for sessions in
    /// files.
    #[must_use]
    pub fn for_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Lists them, those written to last first.
    pub async fn list(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, SessionsError> {
        match &self.source {
            SessionSource::Disk(home) => {
                let mut options = options.clone();
                options.directory = options.directory.or_else(|| self.directory.clone());
                disk::with(home, move |home| bowline_sessions::list(home, &options)).await
            }
            SessionSource::Store(store) => self.stored(store)?.list(options).await,
        }
    }

    /// One session as a listing has it.
    pub async fn info(&self, id: &SessionId) -> Result<Option<SessionInfo>, SessionsError> {
        match &self.source {
            SessionSource::Disk(home) => {
                let (id, directory) = (id.clone(), self.directory.clone());
                let info = move |home: &_| bowline_sessions::info(home, &id, directory.as_deref());
                disk::with(home, info).await
            }
            SessionSource::Store(store) => self.stored(store)?.info(id).await,
        }
    }

    /// The messages, oldest first.
    pub async fn messages(
        &self,
        id: &SessionId,
        page: Page,
    ) -> Result<Vec<SessionMessage>, SessionsError> {
        let read = move |home: &ConfigHome, id: &SessionId, directory: Option<&Path>| {
            bowline_sessions::messages(home, id, directory, page)
        };
        self.read(id, read).await
    }

    /// Its subagents.
    pub async fn subagents(&self, id: &SessionId) -> Result<Vec<AgentId>, SessionsError> {
        self.read(id, bowline_sessions::subagents).await
    }

    /// The messages of a subagent, oldest first.
    pub async fn subagent_messages(
        &self,
        id: &SessionId,
        agent: &AgentId,
        page: Page,
    ) -> Result<Vec<SessionMessage>, SessionsError> {
        let agent = agent.clone();
        let read = move |home: &ConfigHome, id: &SessionId, directory: Option<&Path>| {
            bowline_sessions::subagent_messages(home, id, &agent, directory, page)
        };
        self.read(id, read).await
    }

    /// Sessions whose title or messages contain these words, in any case, newest first.
    pub async fn search(
        &self,
        words: &str,
        options: &ListOptions,
    ) -> Result<Vec<SearchHit>, SessionsError> {
        let (words, mut options) = (words.to_owned(), options.clone());
        match &self.source {
            SessionSource::Disk(home) => {
                options.directory = options.directory.or_else(|| self.directory.clone());
                disk::with(home, move |home| bowline_sessions::search(home, &words, &options)).await
            }
            SessionSource::Store(store) => {
                let copy = self.stored(store)?.copy_all().await?;
                options.directory = None;
                let home = copy.home();
                disk::with(&home, move |home| bowline_sessions::search(home, &words, &options))
                    .await
            }
        }
    }

    /// Gives a session a title.
    pub async fn rename(&self, id: &SessionId, title: &str) -> Result<(), SessionsError> {
        let title = title.to_owned();
        let change = move |home: &ConfigHome, id: &SessionId, directory: Option<&Path>| {
            bowline_sessions::rename(home, id, directory, &title)
        };
        self.change(id, change).await
    }

    /// Gives a session a label; `None` takes it away.
    pub async fn tag(&self, id: &SessionId, label: Option<&str>) -> Result<(), SessionsError> {
        let label = label.map(str::to_owned);
        let change = move |home: &ConfigHome, id: &SessionId, directory: Option<&Path>| {
            bowline_sessions::tag(home, id, directory, label.as_deref())
        };
        self.change(id, change).await
    }

    /// Puts a session aside: it is listed as archived until a prompt is sent in it. A store
    /// does not support that.
    pub async fn archive(&self, id: &SessionId) -> Result<(), SessionsError> {
        self.mark(id, bowline_sessions::archive).await
    }

    /// Takes a session up from where it was put aside.
    pub async fn unarchive(&self, id: &SessionId) -> Result<(), SessionsError> {
        self.mark(id, bowline_sessions::unarchive).await
    }

    /// Copies a session, or its beginning, under new names. Returns the copy's id.
    pub async fn fork(
        &self,
        id: &SessionId,
        options: &ForkOptions,
    ) -> Result<SessionId, SessionsError> {
        let options = options.clone();
        match &self.source {
            SessionSource::Disk(home) => {
                let (id, directory) = (id.clone(), self.directory.clone());
                let fork = move |home: &_| {
                    bowline_sessions::fork(home, &id, directory.as_deref(), &options)
                };
                Ok(disk::with(home, fork).await??.id().clone())
            }
            SessionSource::Store(store) => self.stored(store)?.fork(id, options).await,
        }
    }

    /// Deletes a session with all that belongs to it.
    pub async fn delete(&self, id: &SessionId) -> Result<(), SessionsError> {
        match &self.source {
            SessionSource::Disk(home) => {
                let (id, directory) = (id.clone(), self.directory.clone());
                let delete =
                    move |home: &_| bowline_sessions::delete(home, &id, directory.as_deref());
                Ok(disk::with(home, delete).await??)
            }
            SessionSource::Store(store) => self.stored(store)?.delete(id).await,
        }
    }

    /// Copies a session of these files into a store.
    pub async fn import_into(
        &self,
        store: &dyn SessionStore,
        id: &SessionId,
        which: Transcripts,
    ) -> Result<(), SessionsError> {
        let copy;
        let home = match &self.source {
            SessionSource::Disk(home) => home.clone(),
            SessionSource::Store(from) => {
                copy = self.stored(from)?.copy(id).await?;
                copy.home()
            }
        };
        let (id, directory) = (id.clone(), self.directory.clone());
        let find = move |home: &_| disk::files(home, &id, directory.as_deref());
        let files = disk::with(&home, find).await??;
        Ok(bowline_sessions::import(store, &files, which).await?)
    }

    /// Reads something of one session. What is in a store is copied into files first.
    async fn read<T: Default + Send + 'static>(
        &self,
        id: &SessionId,
        read: impl FnOnce(&ConfigHome, &SessionId, Option<&Path>) -> T + Send + 'static,
    ) -> Result<T, SessionsError> {
        let wanted = id.clone();
        match &self.source {
            SessionSource::Disk(home) => {
                let directory = self.directory.clone();
                disk::with(home, move |home| read(home, &wanted, directory.as_deref())).await
            }
            SessionSource::Store(store) => match self.stored(store)?.copy(id).await {
                Ok(copy) => disk::with(&copy.home(), move |home| read(home, &wanted, None)).await,
                Err(SessionsError::Session(SessionError::NotFound { .. })) => Ok(T::default()),
                Err(error) => Err(error),
            },
        }
    }

    /// Changes one session by adding to its transcript.
    async fn change(
        &self,
        id: &SessionId,
        change: impl FnOnce(&ConfigHome, &SessionId, Option<&Path>) -> Result<(), SessionError>
        + Send
        + 'static,
    ) -> Result<(), SessionsError> {
        match &self.source {
            SessionSource::Disk(home) => {
                let (id, directory) = (id.clone(), self.directory.clone());
                let change = move |home: &_| change(home, &id, directory.as_deref());
                Ok(disk::with(home, change).await??)
            }
            SessionSource::Store(store) => self.stored(store)?.change(id, change).await,
        }
    }

    async fn mark(
        &self,
        id: &SessionId,
        mark: fn(&ConfigHome, &SessionId, Option<&Path>) -> Result<(), SessionError>,
    ) -> Result<(), SessionsError> {
        match &self.source {
            SessionSource::Disk(_) => self.change(id, mark).await,
            SessionSource::Store(_) => Err(SessionsError::NotInStore),
        }
    }

    fn stored<'a>(&self, store: &'a Arc<dyn SessionStore>) -> Result<Stored<'a>, SessionsError> {
        let directory = self.directory.as_deref().ok_or(SessionsError::NoDirectory)?;
        Ok(Stored::new(&**store, directory))
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match &self.source {
            SessionSource::Disk(home) => home.path().display().to_string(),
            SessionSource::Store(store) => format!("{store:?}"),
        };
        f.debug_struct("Sessions")
            .field("source", &source)
            .field("directory", &self.directory)
            .finish()
    }
}

/// The folder that a variable names, else one in the user's home.
#[expect(
    clippy::disallowed_methods,
    reason = "the SDK reads the environment of the program it is part of, where its options leave it open"
)]
fn folder(variables: &[&str], name: &str) -> PathBuf {
    let named =
        variables.iter().find_map(|name| std::env::var_os(name).filter(|it| !it.is_empty()));
    match named {
        Some(folder) => folder.into(),
        None => std::env::home_dir().unwrap_or_default().join(name),
    }
}
