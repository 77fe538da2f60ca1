//! Searches many files at once.

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use ignore::{
    DirEntry, WalkBuilder, WalkState,
    overrides::{Override, OverrideBuilder},
    types::{Types, TypesBuilder},
};
use tokio_util::sync::CancellationToken;

use super::{
    pattern::{Query, Show},
    rejected,
    sink::{Collect, FileHits},
};
use crate::workspace::{IsHidden, lock};

/// How many lines are kept in memory. Beyond that matches are counted and not kept: nobody pages
/// that far.
const MAX_KEPT_LINES: usize = 200_000;

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
/// ignores and git's own are not. The order of the answer is that of the paths.
///
/// Blocks; `cancel` ends it early with what was found so far.
pub(crate) fn search(scope: Scope, query: &Query, cancel: &CancellationToken) -> Vec<FileHits> {
    if scope.root.is_file() {
        let hits = search_file(query, &mut query.searcher(true), scope.root);
        return hits.into_iter().collect();
    }
    let found = Mutex::new(Vec::new());
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
            // A file that cannot be read or has just gone is none of ours.
            let Some(path) = entry.ok().and_then(file_path) else { return WalkState::Continue };
            if hidden.is_some_and(|hidden| hidden(&path)) {
                return WalkState::Continue;
            }
            if let Some(mut hits) = search_file(query, &mut searcher, path) {
                if kept.fetch_add(hits.lines.len(), Ordering::Relaxed) > MAX_KEPT_LINES {
                    hits.lines = Vec::new();
                }
                lock(found).push(hits);
            }
            WalkState::Continue
        })
    });
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn file_path(entry: DirEntry) -> Option<PathBuf> {
    entry.file_type().is_some_and(|kind| kind.is_file()).then(|| entry.into_path())
}

fn search_file(
    query: &Query,
    searcher: &mut grep_searcher::Searcher,
    path: PathBuf,
) -> Option<FileHits> {
    let mut collect = Collect::new(query);
    searcher.search_path(&query.pattern.matcher, &path, &mut collect).ok()?;
    let Collect { matches, lines, .. } = collect;
    if matches == 0 {
        return None;
    }
    let modified = match query.show {
        Show::Files => std::fs::metadata(&path).and_then(|metadata| metadata.modified()).ok(),
        Show::Counts | Show::Lines { .. } => None,
    };
    Some(FileHits { path, modified, matches, lines })
}
