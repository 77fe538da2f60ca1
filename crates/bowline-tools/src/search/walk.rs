//! Concurrent search through a tree of files.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use ignore::{
    DirEntry, WalkBuilder, WalkState,
    overrides::{Override, OverrideBuilder},
    types::{Types, TypesBuilder},
};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::{
    pattern::{Query, Show},
    rejected,
    sink::{Collect, FileHits},
};
use crate::workspace::IsHidden;

/// How many lines are kept in memory. Beyond that matches are counted and not kept: no model pages
/// that far.
const MAX_KEPT_LINES: usize = 200_000;

/// What a search has found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) hits: Vec<FileHits>,
    /// Files that were not read to their end, because too much of them would have to be in memory.
    pub(crate) unread: Vec<PathBuf>,
}

impl Found {
    fn add(&mut self, (hits, unread): (Option<FileHits>, Option<PathBuf>)) {
        self.hits.extend(hits);
        self.unread.extend(unread);
    }
}

/// Which files are searched.
pub(crate) struct Scope {
    pub(crate) root: PathBuf,
    overrides: Override,
    types: Types,
    /// Files that are left out whatever they are called.
    pub(crate) hidden: Option<IsHidden>,
}

impl Scope {
    /// The files under `root` that fit the globs (relative to `current`) and the type.
    pub(crate) fn new(
        root: PathBuf,
        current: &Path,
        globs: &[String],
        kind: Option<&str>,
    ) -> Result<Self, String> {
        let mut overrides = OverrideBuilder::new(current);
        for glob in globs {
            overrides.add(glob).map_err(rejected)?;
        }
        let mut types = TypesBuilder::new();
        if let Some(kind) = kind {
            types.add_defaults().select(kind);
        }
        Ok(Self {
            root,
            overrides: overrides.build().map_err(rejected)?,
            types: types.build().map_err(rejected)?,
            hidden: None,
        })
    }
}

/// Searches all files of the scope on all processors. Hidden files are searched, files that git
/// ignores and git's own are not. Results are ordered by path.
///
/// Blocks; `cancel` ends it early with what was found so far.
pub(crate) fn search(scope: Scope, query: &Query, cancel: &CancellationToken) -> Found {
    if scope.root.is_file() {
        let mut found = Found::default();
        let mut searcher = query.searcher(true);
        found.add(search_file(query, &mut searcher, scope.root, MAX_KEPT_LINES, cancel));
        return found;
    }
    let found = Mutex::new(Found::default());
    let kept = AtomicUsize::new(0);
    let walk = WalkBuilder::new(&scope.root)
        .hidden(false)
        .overrides(scope.overrides)
        .types(scope.types)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build_parallel();
    walk.run(|| {
        let mut searcher = query.searcher(false);
        let (found, kept, hidden) = (&found, &kept, scope.hidden.as_ref());
        Box::new(move |entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            // A file that cannot be read or was just removed is skipped.
            let Some(path) = entry.ok().and_then(file_path) else { return WalkState::Continue };
            if hidden.is_some_and(|hidden| hidden(&path)) {
                return WalkState::Continue;
            }
            let room = MAX_KEPT_LINES.saturating_sub(kept.load(Ordering::Relaxed));
            let (hits, unread) = search_file(query, &mut searcher, path, room, cancel);
            let lines = hits.as_ref().map_or(0, |hits| hits.lines.len());
            kept.fetch_add(lines, Ordering::Relaxed);
            if hits.is_some() || unread.is_some() {
                found.lock().add((hits, unread));
            }
            WalkState::Continue
        })
    });
    let mut found = found.into_inner();
    found.hits.sort_by(|a, b| a.path.cmp(&b.path));
    found.unread.sort();
    found
}

fn file_path(entry: DirEntry) -> Option<PathBuf> {
    entry.file_type().is_some_and(|kind| kind.is_file()).then(|| entry.into_path())
}

/// Searches one file. The second part is its path, if it was not read to its end.
fn search_file(
    query: &Query,
    searcher: &mut grep_searcher::Searcher,
    path: PathBuf,
    room: usize,
    cancel: &CancellationToken,
) -> (Option<FileHits>, Option<PathBuf>) {
    // A file that cannot be opened or was just removed is skipped.
    let Ok(file) = File::open(&path) else { return (None, None) };
    let mut collect = Collect::new(query, room);
    let reader = Cancellable { file, cancel };
    let searched = searcher.search_reader(&query.pattern.matcher, reader, &mut collect);
    // The searcher has no kind of its own for a line that does not fit.
    let is_too_long = |error: io::Error| error.kind() == io::ErrorKind::Other;
    let unread = searched.is_err_and(is_too_long).then(|| path.clone());
    let Collect { matches, lines, .. } = collect;
    if matches == 0 {
        return (None, unread);
    }
    let modified = match query.show {
        Show::Files => std::fs::metadata(&path).and_then(|metadata| metadata.modified()).ok(),
        Show::Counts | Show::Lines { .. } => None,
    };
    (Some(FileHits { path, modified, matches, lines }), unread)
}

/// A file that ends when the search is cancelled.
struct Cancellable<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Ok(0);
        }
        self.file.read(buffer)
    }
}
