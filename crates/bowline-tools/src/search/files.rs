//! File search by name.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use ignore::{WalkBuilder, WalkState, overrides::OverrideBuilder};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::rejected;
use crate::workspace::IsHidden;

/// A file that was found, and when it was changed.
pub(crate) type Found = (Option<SystemTime>, PathBuf);

/// The files under `root` whose path fits the glob, oldest change first. Hidden and ignored files
/// count, git's own do not, and neither do those that must not be read.
///
/// Blocks; `cancel` ends it early with what was found so far.
pub(crate) fn find(
    root: &Path,
    glob: &str,
    hidden: Option<&IsHidden>,
    cancel: &CancellationToken,
) -> Result<Vec<Found>, String> {
    let mut overrides = OverrideBuilder::new(root);
    overrides.add(glob).map_err(rejected)?;
    let found = Mutex::new(Vec::<Found>::new());
    let walk = WalkBuilder::new(root)
        .standard_filters(false)
        .overrides(overrides.build().map_err(rejected)?)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build_parallel();
    walk.run(|| {
        Box::new(|entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| !kind.is_dir())
                && !hidden.is_some_and(|hidden| hidden(entry.path()))
            {
                let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
                found.lock().push((modified, entry.into_path()));
            }
            WalkState::Continue
        })
    });
    let mut found = found.into_inner();
    found.sort();
    Ok(found)
}
