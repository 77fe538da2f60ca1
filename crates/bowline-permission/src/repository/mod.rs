//! The repository that `git` finds from a directory, and whether its settings could run a program.
//!
//! The settings of a repository make even `git status` run programs: monitors, filters, drivers for
//! differences and merges. An unpacked folder brings them without consent, and a bare repository is made
//! of files that a clone brings. So a repository is harmless only if every setting it has is known to
//! run nothing; the environment of `bowline-tools` overrides some besides.

mod config;
mod find;
mod index;
mod settings;

use std::{
    fmt,
    path::{Path, PathBuf},
};

use find::{Found, RepositoryPaths};

use super::{folder_contents::FolderContents, location::Location};

/// How many repositories may be inside each other, and how many are looked at in all.
const MAX_DEPTH: usize = 8;
const MAX_REPOSITORIES: usize = 256;

/// Why `git` in a directory needs approval, for the user who is prompted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Doubt(String);

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Doubt {
    fn about(path: &Path, words: impl fmt::Display) -> Self {
        Self(format!("{} {words}", path.display()))
    }
}

/// A repository whose settings run nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Harmless {
    /// What `git` reads there: the folder with the files, and those with the settings and the history.
    pub(super) folders: Vec<PathBuf>,
    /// Whether something there runs a program unless the environment of the command prevents it.
    pub(super) relies_on_environment: bool,
}

/// Looks at the repository that `git` would find from here, and at those inside it that it would enter.
/// Without a repository there is nothing to doubt.
pub(super) fn examine(directory: &Path) -> Result<Harmless, Doubt> {
    let mut harmless = Harmless::default();
    if let Some(repository) = find::from(directory)? {
        enter(&repository, 0, &mut harmless)?;
    }
    Ok(harmless)
}

/// The files that are tracked by the repository that `git` would find from here, if there is one. The
/// list is incomplete if it cannot be read.
pub(super) fn tracked_from(directory: &Path) -> Option<FolderContents> {
    let repository = match find::from(directory) {
        Ok(repository) => repository?,
        Err(_) => return Some(FolderContents::of(Location::of(directory), None)),
    };
    let tracked = index::tracked(&repository.own.join("index")).ok();
    let paths = tracked.map(|entries| entries.into_iter().map(|it| it.path.into()).collect());
    Some(FolderContents::of(Location::of(&repository.top), paths))
}

fn enter(repository: &RepositoryPaths, depth: usize, harmless: &mut Harmless) -> Result<(), Doubt> {
    let RepositoryPaths { top, own, common } = repository;
    if depth > MAX_DEPTH || harmless.folders.len() > MAX_REPOSITORIES {
        return Err(Doubt::about(top, "holds too many repositories to look at"));
    }
    for file in [common.join("config"), common.join("config.worktree"), own.join("config.worktree")]
    {
        for setting in config::read(&file)? {
            if !settings::is_harmless(&setting, repository) {
                let words = format!("sets {}, which may run a program", setting.key);
                return Err(Doubt::about(&file, words));
            }
            harmless.relies_on_environment |= settings::is_overridden(&setting);
        }
    }
    // The only hook that commands run which only look, and only if they refresh the index.
    harmless.relies_on_environment |= find::exists(&common.join("hooks/post-index-change"));
    let alternates = common.join("objects/info/alternates");
    if find::exists(&alternates) {
        return Err(Doubt::about(&alternates, "names objects of another repository"));
    }
    for folder in [top, own, common] {
        if !harmless.folders.contains(folder) {
            harmless.folders.push(folder.clone());
        }
    }
    let tracked = index::tracked(&own.join("index"))?;
    for inner in tracked.iter().filter(|entry| entry.is_repository) {
        // One that is not checked out is not entered.
        if let Found::Repository(inner) = find::at(&top.join(&inner.path))? {
            enter(&inner, depth + 1, harmless)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
