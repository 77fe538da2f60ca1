//! A store in a folder, laid out like the sessions of a config home.
//!
//! Its file work is short and done at once, not on a thread of its own.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    fs,
    io::{self, Write},
    path::{Component, Path, PathBuf},
};

use bowline_protocol::{RawJson, SessionId};
use parking_lot::{Mutex, MutexGuard};

use super::{SessionStore, StoreError, StoreFuture, StoreKey, StoredSession, name_of};
use crate::{
    clock,
    head::Id,
    project::{SessionFiles, name_of as file_name_of},
};

/// Keeps transcripts as files: `<project>/<session>.jsonl`, the others in `<project>/<session>/`.
#[derive(Debug)]
pub struct FileStore {
    folder: PathBuf,
    /// The names of the entries of each transcript that was appended to, read once.
    names: Mutex<HashMap<StoreKey, HashSet<Id>>>,
}

impl FileStore {
    /// A store in `folder`, which is created with the first entry.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), names: Mutex::default() }
    }

    pub(super) fn path(&self, key: &StoreKey) -> Result<PathBuf, StoreError> {
        let name = |text: &str| is_plain(text, 1).then(|| text.to_owned());
        let bad = || StoreError(format!("not a key of a transcript: {key}"));
        let project = name(&key.project_key).ok_or_else(bad)?;
        let session = name(key.session_id.as_str()).ok_or_else(bad)?;
        let folder = self.folder.join(project);
        match &key.subpath {
            None => Ok(folder.join(format!("{session}.jsonl"))),
            // Keys come from elsewhere and must not lead out of the folder.
            Some(subpath) if !is_plain(subpath, usize::MAX) => Err(bad()),
            Some(subpath) => Ok(folder.join(session).join(format!("{subpath}.jsonl"))),
        }
    }

    fn names(&self) -> MutexGuard<'_, HashMap<StoreKey, HashSet<Id>>> {
        // Names are added only after their entries are written, so a panic leaves them consistent.
        self.names.lock()
    }

    fn append_now(&self, key: &StoreKey, entries: &[RawJson]) -> Result<(), StoreError> {
        let path = self.path(key)?;
        if entries.is_empty() {
            return Ok(());
        }
        let mut names = self.names();
        let names = match names.entry(key.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let there = read(&path)?.unwrap_or_default();
                unknown.insert(there.iter().filter_map(name_of).collect())
            }
        };
        let mut text = String::new();
        let mut new_names = HashSet::new();
        for entry in entries {
            let name = name_of(entry);
            if name.is_none_or(|name| !names.contains(&name) && new_names.insert(name)) {
                text.push_str(&one_line(entry));
                text.push('\n');
            }
        }
        if let Some(parent) = path.parent() {
            bowline_private::folder_as_it_is(parent)?;
        }
        bowline_private::append(&path)?.write_all(text.as_bytes())?;
        names.extend(new_names);
        Ok(())
    }

    fn delete_now(&self, key: &StoreKey) -> Result<(), StoreError> {
        let path = self.path(key)?;
        self.names().clear();
        let gone = |result: io::Result<()>| match result {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        gone(fs::remove_file(&path))?;
        if key.subpath.is_none() {
            gone(fs::remove_dir_all(path.with_extension("")))?;
        }
        Ok(())
    }

    fn sessions(&self, project_key: &str) -> Vec<StoredSession> {
        let Ok(entries) = fs::read_dir(self.folder.join(project_key)) else { return Vec::new() };
        let sessions = entries.flatten().filter_map(|entry| {
            let path = entry.path();
            let id = file_name_of(&path).strip_suffix(".jsonl")?;
            let modified = entry.metadata().and_then(|metadata| metadata.modified()).ok()?;
            let mtime = clock::system_millis(modified);
            Some(StoredSession { session_id: SessionId::from(id), mtime })
        });
        sessions.collect()
    }

    fn subkeys(&self, project_key: &str, session: &SessionId) -> Vec<String> {
        let files = SessionFiles::in_folder(self.folder.join(project_key), session.clone());
        let mut subpaths = Vec::new();
        collect(&files.side_folder(), "", &mut subpaths);
        subpaths.sort();
        subpaths
    }
}

impl SessionStore for FileStore {
    fn append(&self, key: &StoreKey, entries: Vec<RawJson>) -> StoreFuture<'_, ()> {
        let done = self.append_now(key, &entries);
        Box::pin(async { done })
    }

    fn load(&self, key: &StoreKey) -> StoreFuture<'_, Option<Vec<RawJson>>> {
        let entries = self.path(key).and_then(|path| Ok(read(&path)?));
        Box::pin(async { entries })
    }

    fn list_sessions(&self, project_key: &str) -> StoreFuture<'_, Option<Vec<StoredSession>>> {
        let sessions = self.sessions(project_key);
        Box::pin(async { Ok(Some(sessions)) })
    }

    fn delete(&self, key: &StoreKey) -> StoreFuture<'_, ()> {
        let done = self.delete_now(key);
        Box::pin(async { done })
    }

    fn list_subkeys(
        &self,
        project_key: &str,
        session: &SessionId,
    ) -> StoreFuture<'_, Option<Vec<String>>> {
        let subkeys = self.subkeys(project_key, session);
        Box::pin(async { Ok(Some(subkeys)) })
    }
}

/// Whether a path is made of at most `most` plain names.
fn is_plain(path: &str, most: usize) -> bool {
    let mut parts = 0;
    let plain = Path::new(path).components().all(|part| {
        parts += 1;
        matches!(part, Component::Normal(_))
    });
    plain && (1..=most).contains(&parts) && !path.contains(['\\', '\0', ':'])
}

fn read(path: &Path) -> io::Result<Option<Vec<RawJson>>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    Ok(Some(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()))
}

/// The entry without line breaks, which JSON may have between its tokens.
fn one_line(entry: &RawJson) -> String {
    if entry.get().contains(['\n', '\r']) {
        entry.to_value().to_string()
    } else {
        entry.get().to_owned()
    }
}

fn collect(folder: &Path, prefix: &str, subpaths: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = file_name_of(&path);
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), subpaths);
        } else if let Some(name) = name.strip_suffix(".jsonl") {
            subpaths.push(format!("{prefix}{name}"));
        }
    }
}
