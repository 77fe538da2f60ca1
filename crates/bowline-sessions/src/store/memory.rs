//! A store in memory, for tests and for hosts that keep sessions no longer than they run.

use std::{
    collections::{BTreeMap, HashSet},
    time::SystemTime,
};

use bowline_protocol::{RawJson, SessionId};
use parking_lot::{Mutex, MutexGuard};

use super::{SessionStore, StoreFuture, StoreKey, StoredSession, name_of};
use crate::{clock, head::Id, summary::SessionSummary};

/// Keeps transcripts in memory.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    transcripts: BTreeMap<StoreKey, Transcript>,
    summaries: BTreeMap<StoreKey, SessionSummary>,
    last_write: i64,
}

#[derive(Debug, Default)]
struct Transcript {
    entries: Vec<RawJson>,
    names: HashSet<Id>,
    mtime: i64,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Each change is complete before the next thing that could panic.
        self.0.lock()
    }
}

impl Kept {
    /// The time of a write: later than every other, so that it determines the order.
    fn tick(&mut self) -> i64 {
        self.last_write = clock::system_millis(SystemTime::now()).max(self.last_write + 1);
        self.last_write
    }

    fn append(&mut self, key: &StoreKey, entries: Vec<RawJson>) {
        if entries.is_empty() {
            return;
        }
        let now = self.tick();
        let transcript = self.transcripts.entry(key.clone()).or_default();
        let first_new = transcript.entries.len();
        for entry in entries {
            if name_of(&entry).is_none_or(|name| transcript.names.insert(name)) {
                transcript.entries.push(entry);
            }
        }
        transcript.mtime = now;
        if key.subpath.is_none() {
            let summary = self
                .summaries
                .entry(key.clone())
                .or_insert_with(|| SessionSummary::new(key.session_id.clone()));
            summary.fold(&transcript.entries[first_new..]);
            summary.mtime = now;
        }
    }
}

impl SessionStore for MemoryStore {
    fn append(&self, key: &StoreKey, entries: Vec<RawJson>) -> StoreFuture<'_, ()> {
        self.kept().append(key, entries);
        Box::pin(async { Ok(()) })
    }

    fn load(&self, key: &StoreKey) -> StoreFuture<'_, Option<Vec<RawJson>>> {
        let entries = self.kept().transcripts.get(key).map(|found| found.entries.clone());
        Box::pin(async { Ok(entries) })
    }

    fn list_sessions(&self, project_key: &str) -> StoreFuture<'_, Option<Vec<StoredSession>>> {
        let kept = self.kept();
        let sessions = kept
            .transcripts
            .iter()
            .filter(|(key, _)| key.project_key == project_key && key.subpath.is_none());
        let sessions = sessions.map(|(key, found)| StoredSession {
            session_id: key.session_id.clone(),
            mtime: found.mtime,
        });
        let sessions = sessions.collect();
        Box::pin(async { Ok(Some(sessions)) })
    }

    fn list_summaries(&self, project_key: &str) -> StoreFuture<'_, Option<Vec<SessionSummary>>> {
        let kept = self.kept();
        let summaries = kept.summaries.iter().filter(|(key, _)| key.project_key == project_key);
        let summaries = summaries.map(|(_, summary)| summary.clone()).collect();
        Box::pin(async { Ok(Some(summaries)) })
    }

    fn delete(&self, key: &StoreKey) -> StoreFuture<'_, ()> {
        let goes = |other: &StoreKey| match &key.subpath {
            Some(_) => other == key,
            None => (&other.project_key, &other.session_id) == (&key.project_key, &key.session_id),
        };
        let mut kept = self.kept();
        kept.transcripts.retain(|other, _| !goes(other));
        kept.summaries.retain(|other, _| !goes(other));
        Box::pin(async { Ok(()) })
    }

    fn list_subkeys(
        &self,
        project_key: &str,
        session: &SessionId,
    ) -> StoreFuture<'_, Option<Vec<String>>> {
        let kept = self.kept();
        let keys = kept
            .transcripts
            .keys()
            .filter(|key| key.project_key == project_key && key.session_id == *session);
        let subpaths = keys.filter_map(|key| key.subpath.clone()).collect();
        Box::pin(async { Ok(Some(subpaths)) })
    }
}
