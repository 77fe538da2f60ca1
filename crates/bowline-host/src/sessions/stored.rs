//! Sessions in a store. Operations on a whole transcript use a copy in files, so that there is
//! one way to read and to change transcripts.

use std::path::Path;

use bowline_protocol::{RawJson, SessionId};
use bowline_sessions::{
    ConfigHome, ForkOptions, ListOptions, ProjectKey, SessionError, SessionInfo, SessionSummary,
    StoreKey, StoredSession, Transcripts, import, materialize,
};
use futures_util::{StreamExt, stream};
use serde_json::{Map, Value};

use super::{SessionsError, disk};
use crate::store::{SessionStore, StoreError};

/// Sessions that are loaded at once: a store is often far away and seldom small.
const LOADED_AT_ONCE: usize = 16;

/// The sessions of one directory in a store.
pub(super) struct Stored<'a> {
    store: &'a dyn SessionStore,
    project_key: String,
    directory: String,
}

/// Sessions of a store, copied into temporary files until this is dropped.
pub(super) struct Copy {
    folder: tempfile::TempDir,
}

impl Copy {
    fn new() -> Result<Self, SessionsError> {
        let folder = bowline_private::disposable_folder("bowline-sessions-");
        Ok(Self { folder: folder.map_err(StoreError::from)? })
    }

    pub(super) fn home(&self) -> ConfigHome {
        ConfigHome::new(self.folder.path())
    }
}

impl<'a> Stored<'a> {
    pub(super) fn new(store: &'a dyn SessionStore, directory: &Path) -> Self {
        let project_key = ProjectKey::for_directory(directory).as_str().to_owned();
        Self { store, project_key, directory: directory.display().to_string() }
    }

    fn key(&self, id: &SessionId) -> StoreKey {
        StoreKey::main(self.project_key.clone(), id.as_str())
    }

    /// One session in files.
    pub(super) async fn copy(&self, id: &SessionId) -> Result<Copy, SessionsError> {
        let copy = Copy::new()?;
        match materialize(self.store, &self.key(id), &copy.home()).await? {
            Some(_) => Ok(copy),
            None => Err(not_found(id)),
        }
    }

    /// All sessions in files.
    pub(super) async fn copy_all(&self) -> Result<Copy, SessionsError> {
        let copy = Copy::new()?;
        for session in self.sessions().await? {
            materialize(self.store, &self.key(&session.session_id), &copy.home()).await?;
        }
        Ok(copy)
    }

    async fn sessions(&self) -> Result<Vec<StoredSession>, SessionsError> {
        let sessions = self.store.list_sessions(&self.project_key).await?;
        sessions.ok_or_else(|| StoreError("it does not list sessions".to_owned()).into())
    }

    /// Where the store keeps summaries that are up to date they are enough; the other sessions on
    /// the page are loaded.
    pub(super) async fn list(
        &self,
        options: &ListOptions,
    ) -> Result<Vec<SessionInfo>, SessionsError> {
        let summaries = self.store.list_summaries(&self.project_key).await?.unwrap_or_default();
        let mut rows: Vec<Row> = Vec::new();
        for session in self.sessions().await? {
            let summary = summaries.iter().find(|it| it.session_id == session.session_id);
            let fresh = summary.filter(|summary| summary.mtime >= session.mtime);
            match fresh.map(|summary| summary.to_info(Some(&self.directory))) {
                Some(Some(info)) => rows.push(Row::Known(Box::new(info))),
                // A subagent's, or one without messages.
                Some(None) => {}
                None => rows.push(Row::Unknown(session)),
            }
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.modified()));
        let limit = options.limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        let page = rows.into_iter().skip(options.offset).take(limit);
        let infos = stream::iter(page).map(|row| self.complete(row)).buffered(LOADED_AT_ONCE);
        Ok(infos.filter_map(std::future::ready).collect().await)
    }

    async fn complete(&self, row: Row) -> Option<SessionInfo> {
        match row {
            Row::Known(info) => Some(*info),
            Row::Unknown(session) => match self.store.load(&self.key(&session.session_id)).await {
                Ok(entries) => self.folded(session, &entries?),
                Err(error) => {
                    tracing::warn!(session = %session.session_id, %error, "cannot be loaded");
                    let StoredSession { session_id, mtime } = session;
                    Some(SessionInfo { session_id, last_modified: mtime, ..SessionInfo::default() })
                }
            },
        }
    }

    fn folded(&self, session: StoredSession, entries: &[RawJson]) -> Option<SessionInfo> {
        let mut summary = SessionSummary::new(session.session_id);
        summary.fold(entries);
        summary.mtime = session.mtime;
        summary.to_info(Some(&self.directory))
    }

    pub(super) async fn info(&self, id: &SessionId) -> Result<Option<SessionInfo>, SessionsError> {
        let Some(entries) = self.store.load(&self.key(id)).await? else { return Ok(None) };
        let sessions = self.store.list_sessions(&self.project_key).await?.unwrap_or_default();
        let mtime = sessions.iter().find(|it| it.session_id == *id).map_or(0, |it| it.mtime);
        Ok(self.folded(StoredSession { session_id: id.clone(), mtime }, &entries))
    }

    /// Changes a copy, and appends what that added to its transcript.
    pub(super) async fn change(
        &self,
        id: &SessionId,
        change: impl FnOnce(&ConfigHome, &SessionId, Option<&Path>) -> Result<(), SessionError>
        + Send
        + 'static,
    ) -> Result<(), SessionsError> {
        let copy = self.copy(id).await?;
        let wanted = id.clone();
        let added = move |home: &ConfigHome| -> Result<Vec<RawJson>, SessionError> {
            let transcript = disk::files(home, &wanted, None)?.transcript();
            let lines = || {
                let text = std::fs::read_to_string(&transcript);
                text.map_err(|source| SessionError::Io { path: transcript.clone(), source })
            };
            let before = lines()?.len();
            change(home, &wanted, None)?;
            Ok(lines()?[before..].lines().filter_map(named).collect())
        };
        let added = disk::with(&copy.home(), added).await??;
        Ok(self.store.append(&self.key(id), added).await?)
    }

    pub(super) async fn fork(
        &self,
        id: &SessionId,
        options: ForkOptions,
    ) -> Result<SessionId, SessionsError> {
        let copy = self.copy(id).await?;
        let wanted = id.clone();
        let fork = move |home: &_| bowline_sessions::fork(home, &wanted, None, &options);
        let files = disk::with(&copy.home(), fork).await??;
        import(self.store, &files, Transcripts::All).await?;
        Ok(files.id().clone())
    }

    pub(super) async fn delete(&self, id: &SessionId) -> Result<(), SessionsError> {
        Ok(self.store.delete(&self.key(id)).await?)
    }
}

/// A session on its way into a listing.
enum Row {
    Known(Box<SessionInfo>),
    Unknown(StoredSession),
}

impl Row {
    fn modified(&self) -> i64 {
        match self {
            Self::Known(info) => info.last_modified,
            Self::Unknown(session) => session.mtime,
        }
    }
}

/// A line with a name, so that a store keeps it once however often it is appended.
fn named(line: &str) -> Option<RawJson> {
    let mut line: Map<String, Value> = serde_json::from_str(line).ok()?;
    line.entry("uuid").or_insert_with(|| bowline_sessions::new_id().0.into());
    line.entry("timestamp").or_insert_with(|| bowline_sessions::now().into());
    Some(RawJson::from(Value::Object(line)))
}

fn not_found(id: &SessionId) -> SessionsError {
    SessionError::NotFound { target: id.to_string(), nearest: Vec::new() }.into()
}
