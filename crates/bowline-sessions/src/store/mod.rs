//! Keeping sessions somewhere else than in files of one machine.

mod check;
mod file;
mod memory;
mod shared;
mod transfer;

use std::{fmt, pin::Pin};

use bowline_protocol::{RawJson, SessionId};
use serde::Deserialize;

use crate::{head::Id, summary::SessionSummary};

pub use check::{BrokenContract, StoreCheck};
pub use file::FileStore;
pub use memory::MemoryStore;
pub use transfer::{Transcripts, import, materialize};

/// A boxed future, so that a store can be a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Names one transcript in a store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoreKey {
    /// The project ([`ProjectKey`](crate::ProjectKey)).
    pub project_key: String,
    /// The session.
    pub session_id: SessionId,
    /// A subagent's transcript, as in `subagents/agent-a1b2`; `None` is the main one.
    pub subpath: Option<String>,
}

impl StoreKey {
    /// The main transcript of a session.
    pub fn main(project_key: impl Into<String>, session_id: impl Into<String>) -> Self {
        let session_id = SessionId(session_id.into());
        Self { project_key: project_key.into(), session_id, subpath: None }
    }

    /// Another transcript of the session.
    pub fn with_subpath(mut self, subpath: impl Into<String>) -> Self {
        self.subpath = Some(subpath.into());
        self
    }
}

impl fmt::Display for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project_key, self.session_id)?;
        self.subpath.iter().try_for_each(|subpath| write!(f, "/{subpath}"))
    }
}

/// A session in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// The session.
    pub session_id: SessionId,
    /// When it was written to last, in milliseconds since the epoch.
    pub mtime: i64,
}

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// What a store answers. `Ok(None)` from a listing means that it does not offer it.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Keeps transcripts: in a database, in a bucket, in memory.
///
/// Entries are opaque. Those with a `uuid` are kept once, however often they are appended, because a
/// failed append is tried again; those without are kept as often as they come.
pub trait SessionStore: Send + Sync + fmt::Debug + 'static {
    /// Appends entries in order. None is no change.
    fn append(&self, key: &StoreKey, entries: Vec<RawJson>) -> Answer<'_, ()>;

    /// All entries in order; `None` for a key that was never written.
    fn load(&self, key: &StoreKey) -> Answer<'_, Option<Vec<RawJson>>>;

    /// The sessions of a project, in any order.
    fn list_sessions(&self, _project_key: &str) -> Answer<'_, Option<Vec<StoredSession>>> {
        Box::pin(async { Ok(None) })
    }

    /// The summaries of a project's sessions, in any order.
    fn list_summaries(&self, _project_key: &str) -> Answer<'_, Option<Vec<SessionSummary>>> {
        Box::pin(async { Ok(None) })
    }

    /// Forgets a transcript; the main one takes the session's others with it. Unknown is fine.
    fn delete(&self, _key: &StoreKey) -> Answer<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// The subpaths of a session's other transcripts.
    fn list_subkeys(
        &self,
        _project_key: &str,
        _session: &SessionId,
    ) -> Answer<'_, Option<Vec<String>>> {
        Box::pin(async { Ok(None) })
    }
}

/// The name that an entry may have.
fn name_of(entry: &RawJson) -> Option<Id> {
    #[derive(Deserialize)]
    struct Named {
        uuid: Id,
    }
    entry.parse::<Named>().ok().map(|Named { uuid }| uuid)
}
