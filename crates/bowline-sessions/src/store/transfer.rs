//! Sessions from files into a store, and back into files to be resumed.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::Path,
};

use bowline_protocol::RawJson;
use serde_json::{Map, Value};

use super::{
    FileStore, MOST_PENDING_BYTES, MOST_PENDING_ENTRIES, SessionStore, StoreError, StoreKey,
};
use crate::{
    project::{ConfigHome, SessionFiles},
    read::subagent_files,
};

/// The entry as which a subagent's sidecar travels through a store.
const METADATA: &str = "agent_metadata";

/// Transcripts to copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Transcripts {
    /// The session's and its subagents'.
    #[default]
    All,
    /// The session's only.
    Main,
}

/// Copies a session's files into a store, in batches.
pub async fn import(
    store: &dyn SessionStore,
    files: &SessionFiles,
    which: Transcripts,
) -> Result<(), StoreError> {
    let key = StoreKey::main(files.project_key().as_str(), files.id().as_str());
    import_file(store, &key, &files.transcript()).await?;
    if which == Transcripts::Main {
        return Ok(());
    }
    let projects = files.project_folder().parent().unwrap_or(Path::new(""));
    for (_, path) in subagent_files(&files.subagents()) {
        let Some(key) = StoreKey::of_transcript(&path, projects) else { continue };
        import_file(store, &key, &path).await?;
        let sidecar = fs::read_to_string(path.with_extension("meta.json")).unwrap_or_default();
        if let Ok(mut metadata) = serde_json::from_str::<Map<String, Value>>(&sidecar) {
            metadata.insert("type".to_owned(), METADATA.into());
            store.append(&key, vec![RawJson::from(Value::Object(metadata))]).await?;
        }
    }
    Ok(())
}

/// Writes a stored session into a config home, where it can be resumed.
///
/// `None` if the store does not have it. Keys that would lead out of the folder are an error.
pub async fn materialize(
    store: &dyn SessionStore,
    key: &StoreKey,
    home: &ConfigHome,
) -> Result<Option<SessionFiles>, StoreError> {
    let Some(entries) = store.load(key).await? else { return Ok(None) };
    let target = FileStore::new(home.projects());
    target.append(key, entries).await?;
    let subkeys = store.list_subkeys(&key.project_key, &key.session_id).await?;
    for subpath in subkeys.unwrap_or_default() {
        let key = key.clone().with_subpath(subpath);
        let Some(entries) = store.load(&key).await? else { continue };
        let (sidecars, entries): (Vec<RawJson>, Vec<RawJson>) =
            entries.into_iter().partition(is_metadata);
        target.append(&key, entries).await?;
        if let Some(last) = sidecars.last() {
            let path = target.path(&key)?.with_extension("meta.json");
            let mut metadata = last.parse::<Map<String, Value>>().unwrap_or_default();
            metadata.remove("type");
            if let Some(folder) = path.parent() {
                bowline_private::folder_as_it_is(folder)?;
            }
            bowline_private::write(&path, Value::Object(metadata).to_string())?;
        }
    }
    let folder = home.projects().join(&key.project_key);
    Ok(Some(SessionFiles::in_folder(folder, key.session_id.clone())))
}

fn is_metadata(entry: &RawJson) -> bool {
    entry.get().contains(METADATA)
        && entry
            .parse::<Map<String, Value>>()
            .is_ok_and(|entry| entry.get("type") == Some(&METADATA.into()))
}

async fn import_file(
    store: &dyn SessionStore,
    key: &StoreKey,
    path: &Path,
) -> Result<(), StoreError> {
    let mut lines = BufReader::new(File::open(path)?);
    let mut batch: Vec<RawJson> = Vec::new();
    let mut bytes = 0;
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        if let Ok(entry) = serde_json::from_slice::<RawJson>(&line) {
            bytes += line.len();
            batch.push(entry);
        }
        line.clear();
        if batch.len() >= MOST_PENDING_ENTRIES || bytes >= MOST_PENDING_BYTES {
            store.append(key, std::mem::take(&mut batch)).await?;
            bytes = 0;
        }
    }
    if batch.is_empty() { Ok(()) } else { store.append(key, batch).await }
}
