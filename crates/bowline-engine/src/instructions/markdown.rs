//! Markdown files that people leave in folders: rules, agents, output styles.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

/// The maximum depth of nested folders.
const DEPTH: usize = 8;
/// The maximum number of files in one folder; more are not written by people.
const MOST_FILES: usize = 500;

/// The Markdown files in a folder and below it, sorted by name; or the path itself, if it is a
/// file.
pub(crate) fn files_in(place: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    match place.is_file() {
        true => found.extend(is_markdown(place).then(|| place.to_owned())),
        false => look(place, DEPTH, &mut HashSet::new(), &mut found),
    }
    found
}

fn look(folder: &Path, depth: usize, seen: &mut HashSet<PathBuf>, found: &mut Vec<PathBuf>) {
    // A link may lead back to a folder above it.
    let is_new = fs::canonicalize(folder).is_ok_and(|real| seen.insert(real));
    let Some(depth) = depth.checked_sub(1).filter(|_| is_new) else { return };
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if found.len() >= MOST_FILES {
            return;
        }
        if path.is_dir() {
            look(&path, depth, seen, found);
        } else if is_markdown(&path) {
            found.push(path);
        }
    }
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}
