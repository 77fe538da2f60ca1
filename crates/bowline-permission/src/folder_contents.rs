//! Everything below a folder that a command works on as a whole.

use std::{fs, path::PathBuf};

use super::{location::Location, path_pattern::PathPattern};

/// How many entries are looked at before there are too many to tell.
const MAX_ENTRIES: usize = 50_000;

/// Everything below a folder, without following links.
#[derive(Debug)]
pub(super) struct FolderContents {
    folder: Location,
    /// Paths relative to the folder; `None` if they are too many or cannot all be listed.
    entries: Option<Vec<PathBuf>>,
}

impl FolderContents {
    /// These paths, known from elsewhere, below a folder.
    pub(super) fn of(folder: Location, entries: Option<Vec<PathBuf>>) -> Self {
        Self { folder, entries }
    }

    /// Lists what lies below a location, if it is a folder.
    pub(super) fn list(location: &Location) -> Option<Self> {
        let is_folder = location.real().is_dir();
        is_folder.then(|| Self { folder: location.clone(), entries: entries(location) })
    }

    /// Whether the list is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.entries.is_some()
    }

    /// How many paths were found.
    pub(super) fn len(&self) -> usize {
        self.entries.as_ref().map_or(MAX_ENTRIES, Vec::len)
    }

    /// The paths relative to the folder, if the list is complete.
    pub(super) fn entries(&self) -> Option<&[PathBuf]> {
        self.entries.as_deref()
    }

    /// Whether something below is named by a pattern.
    pub(super) fn contains(&self, pattern: &PathPattern) -> bool {
        let [named, real] = self.folder.paths();
        self.entries.iter().flatten().any(|entry| {
            pattern.matches(&real.join(entry))
                || named != real && pattern.matches(&named.join(entry))
        })
    }
}

fn entries(folder: &Location) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(below) = pending.pop() {
        // A folder that we cannot list, a command of ours cannot list either.
        let Ok(listed) = fs::read_dir(folder.real().join(&below)) else { continue };
        for entry in listed {
            let entry = entry.ok()?;
            let path = below.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push(path.clone());
            }
            found.push(path);
            if found.len() > MAX_ENTRIES {
                return None;
            }
        }
    }
    Some(found)
}
