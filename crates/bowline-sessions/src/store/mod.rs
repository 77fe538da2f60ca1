//! Session stores: sessions kept in a database or a service instead of local files.

mod check;
mod file;
mod key;
mod memory;
mod shared;
mod transfer;

use std::fmt;

use bowline_protocol::{RawJson, SessionId};
use futures_util::future::BoxFuture;
use serde::Deserialize;

use crate::{head::Id, summary::SessionSummary};

pub use check::{BrokenContract, StoreCheck};
pub use file::FileStore;
pub use key::StoreKey;
pub use memory::MemoryStore;
pub use transfer::{Transcripts, import, materialize};

/// Entries after which a batch is sent.
pub const MOST_PENDING_ENTRIES: usize = 500;
/// Bytes after which a batch is sent.
pub const MOST_PENDING_BYTES: usize = 1 << 20;

/// A session in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// The session.
    pub session_id: SessionId,
    /// When it was written to last, in milliseconds since the epoch.
    pub mtime: i64,
}

/// Error of a store operation.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// Result of a store operation. `Ok(None)` from a listing means that it does not offer it.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Keeps transcripts: in a database, in a bucket, in memory.
///
/// Entries are opaque. Those with a `uuid` are kept once, however often they are appended, because a
/// failed append is tried again; those without are kept as often as they come.
pub trait SessionStore: Send + Sync + fmt::Debug + 'static {
    /// Appends entries in order. None is no change.
    fn append(&self, key: &StoreKey, entries: Vec<RawJson>) -> StoreFuture<'_, ()>;

    /// All entries in order; `None` for a key that was never written.
    fn load(&self, key: &StoreKey) -> StoreFuture<'_, Option<Vec<RawJson>>>;

    /// The sessions of a project, in any order.
    fn list_sessions(&self, _project_key: &str) -> StoreFuture<'_, Option<Vec<StoredSession>>> {
        Box::pin(async { Ok(None) })
    }

    /// The summaries of a project's sessions, in any order.
    fn list_summaries(&self, _project_key: &str) -> StoreFuture<'_, Option<Vec<SessionSummary>>> {
        Box::pin(async { Ok(None) })
    }

    /// Forgets a transcript; the main one takes the session's others with it. Unknown is fine.
    fn delete(&self, _key: &StoreKey) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// The subpaths of a session's other transcripts.
    fn list_subkeys(
        &self,
        _project_key: &str,
        _session: &SessionId,
    ) -> StoreFuture<'_, Option<Vec<String>>> {
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
