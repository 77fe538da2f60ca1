//! Snapshots of files, and the changes between two of them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The maximum number of files in a folder; polling more would be too slow.
const MOST_FILES: usize = 10_000;

/// Files by path, with the stamps that show a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Snapshot(BTreeMap<PathBuf, Stamp>);

/// File metadata that changes with the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
}

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Added,
    Changed,
    Removed,
}

impl Change {
    /// The name in hook inputs.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Added => "add",
            Self::Changed => "change",
            Self::Removed => "unlink",
        }
    }
}

impl Stamp {
    /// The stamp of a file; `None` if the file does not exist.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Self { modified: metadata.modified().ok(), length: metadata.len() })
    }
}

impl Snapshot {
    /// Reads files, and all files below folders. Relative paths start in `base` and stay relative.
    pub(super) fn take(base: &Path, paths: &[PathBuf]) -> Self {
        let mut found = Self::default();
        for path in paths {
            found.add(base, path.clone());
        }
        found
    }

    fn add(&mut self, base: &Path, path: PathBuf) {
        if self.0.len() >= MOST_FILES {
            return;
        }
        let place = base.join(&path);
        if let Some(stamp) = Stamp::of(&place) {
            self.0.insert(path, stamp);
        } else if let Ok(entries) = fs::read_dir(&place) {
            for entry in entries.flatten() {
                // A link may lead back to a folder above it.
                if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                    self.add(base, path.join(entry.file_name()));
                }
            }
        }
    }

    /// The changes since `before`, by path.
    pub(super) fn changes_since(&self, before: &Self) -> Vec<(PathBuf, Change)> {
        let now = self.0.iter().filter_map(|(path, stamp)| match before.0.get(path) {
            None => Some((path.clone(), Change::Added)),
            Some(old) if old != stamp => Some((path.clone(), Change::Changed)),
            Some(_) => None,
        });
        let gone = before.0.keys().filter(|path| !self.0.contains_key(*path));
        let mut changes: Vec<_> =
            now.chain(gone.map(|path| (path.clone(), Change::Removed))).collect();
        changes.sort_by(|one, other| one.0.cmp(&other.0));
        changes
    }

    /// Adds files that were not watched before.
    pub(super) fn adopt(&mut self, new: Self) {
        for (path, stamp) in new.0 {
            self.0.entry(path).or_insert(stamp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_change_and_go() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        fs::create_dir(base.join("d")).unwrap();
        fs::write(base.join("d/same"), "1").unwrap();
        fs::write(base.join("d/grows"), "1").unwrap();
        fs::write(base.join("goes"), "1").unwrap();
        let paths = ["d", "goes", "comes"].map(PathBuf::from);
        let before = Snapshot::take(base, &paths);
        assert_eq!(before.changes_since(&before), []);
        fs::write(base.join("d/grows"), "12").unwrap();
        fs::write(base.join("comes"), "1").unwrap();
        fs::write(base.join("other"), "1").unwrap();
        fs::remove_file(base.join("goes")).unwrap();
        let changes = Snapshot::take(base, &paths).changes_since(&before);
        let shown: Vec<_> = changes
            .iter()
            .map(|(path, change)| (path.to_str().unwrap(), change.as_str()))
            .collect();
        assert_eq!(shown, [("comes", "add"), ("d/grows", "change"), ("goes", "unlink")]);
    }
}
