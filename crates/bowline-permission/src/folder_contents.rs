//! Recursive listing of a folder that a command reads or changes as a whole.

use std::{fs, io::ErrorKind, path::PathBuf};

use super::{location::Location, path_pattern::PathPattern};

/// Limit of a listing; the contents of a larger folder are unknown.
const MAX_ENTRIES: usize = 50_000;

/// The paths below a folder, without following links.
#[derive(Debug)]
pub(super) struct FolderContents {
    folder: Location,
    /// Paths relative to the folder; `None` if there are too many or reading one failed. Folders
    /// without read permission are listed without their contents.
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

    /// Number of paths; the limit if the listing is incomplete.
    pub(super) fn len(&self) -> usize {
        self.entries.as_ref().map_or(MAX_ENTRIES, Vec::len)
    }

    /// The paths relative to the folder, if the list is complete.
    pub(super) fn entries(&self) -> Option<&[PathBuf]> {
        self.entries.as_deref()
    }

    /// Whether a pattern matches a listed path; false for an incomplete listing, so check
    /// [`is_complete`](Self::is_complete) first.
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
        let listed = match fs::read_dir(folder.real().join(&below)) {
            Ok(listed) => listed,
            // The command runs as the same user, so it cannot list this folder either; a removed
            // one has no contents.
            Err(error)
                if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound) =>
            {
                continue;
            }
            // Such as too many open files: the command may succeed where this failed.
            Err(_) => return None,
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_error_makes_the_listing_incomplete() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(entries(&Location::of(folder.path())), Some(vec![PathBuf::from("file")]));
        // Not a directory: neither a lack of permission nor a removed folder.
        assert_eq!(entries(&Location::of(&file)), None);
    }

    #[test]
    fn removed_folder_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let removed = Location::of(&folder.path().join("removed"));
        assert_eq!(entries(&removed), Some(Vec::new()));
    }
}
