//! A store that several hold.

use std::sync::Arc;

use bowline_protocol::{RawJson, SessionId};

use super::{SessionStore, StoreFuture, StoreKey, StoredSession};
use crate::summary::SessionSummary;

impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    fn append(&self, key: &StoreKey, entries: Vec<RawJson>) -> StoreFuture<'_, ()> {
        (**self).append(key, entries)
    }

    fn load(&self, key: &StoreKey) -> StoreFuture<'_, Option<Vec<RawJson>>> {
        (**self).load(key)
    }

    fn list_sessions(&self, project_key: &str) -> StoreFuture<'_, Option<Vec<StoredSession>>> {
        (**self).list_sessions(project_key)
    }

    fn list_summaries(&self, project_key: &str) -> StoreFuture<'_, Option<Vec<SessionSummary>>> {
        (**self).list_summaries(project_key)
    }

    fn delete(&self, key: &StoreKey) -> StoreFuture<'_, ()> {
        (**self).delete(key)
    }

    fn list_subkeys(
        &self,
        project_key: &str,
        session: &SessionId,
    ) -> StoreFuture<'_, Option<Vec<String>>> {
        (**self).list_subkeys(project_key, session)
    }
}
