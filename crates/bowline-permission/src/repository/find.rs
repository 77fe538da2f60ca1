//! Search for a repository from a directory upwards, as `git` does it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{super::location::Location, Doubt, config};

/// More than any file has that names a folder.
const MAX_BYTES: u64 = 64 * 1024;

/// Where a repository is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RepositoryPaths {
    /// The folder with the files.
    pub(super) top: PathBuf,
    /// What belongs to these files: the index and the head.
    pub(super) own: PathBuf,
    /// What all copies of the files share: settings and history.
    pub(super) common: PathBuf,
}

/// What a folder is to `git`.
#[derive(Debug)]
pub(super) enum Found {
    Repository(RepositoryPaths),
    Nothing,
}

/// The first repository on the way up. Whatever might be one but certainly is not is a doubt.
pub(super) fn from(directory: &Path) -> Result<Option<RepositoryPaths>, Doubt> {
    // `git` goes up from where it really is.
    let location = Location::of(directory);
    for folder in location.real().ancestors() {
        if let Found::Repository(paths) = at(folder)? {
            return Ok(Some(paths));
        }
        let is_bare = exists(&folder.join("HEAD"))
            && (exists(&folder.join("objects")) || exists(&folder.join("commondir")));
        // Inside `.git`, `git` finds the same; its files are no ordinary ones.
        if is_bare {
            return Err(Doubt::about(
                folder,
                "may be a bare repository, whose settings came with the files",
            ));
        }
    }
    Ok(None)
}

/// The repository whose files are right here.
pub(super) fn at(top: &Path) -> Result<Found, Doubt> {
    let link = top.join(".git");
    let Ok(kind) = fs::symlink_metadata(&link) else { return Ok(Found::Nothing) };
    let top = top.to_owned();
    if kind.is_dir() {
        if exists(&link.join("commondir")) {
            return Err(Doubt::about(&link, "shares the settings of another repository"));
        }
        return match is_whole(&link) {
            true => Ok(Found::Repository(RepositoryPaths { top, own: link.clone(), common: link })),
            // `git` may go on upwards or not.
            false => Err(Doubt::about(&link, "is not a whole repository")),
        };
    }
    if !kind.is_file() {
        return Err(Doubt::about(&link, "is a link"));
    }
    let named = text(&link)?;
    let named = named.strip_prefix("gitdir:").map(|it| it.trim()).filter(|it| !it.is_empty());
    let named = named.ok_or_else(|| Doubt::about(&link, "does not name a repository"))?;
    let own = Location::of(&top.join(named)).real().to_owned();
    let common = common(&own)?;
    if !is_whole_for(&own, &common) {
        return Err(Doubt::about(&own, "is not a whole repository"));
    }
    let paths = RepositoryPaths { top, own, common };
    match is_known_there(&paths)? {
        true => Ok(Found::Repository(paths)),
        false => Err(Doubt::about(&link, "names a repository that does not know of it")),
    }
}

/// Where the settings are: `commondir` names it, if there is one.
fn common(own: &Path) -> Result<PathBuf, Doubt> {
    let file = own.join("commondir");
    if !exists(&file) {
        return Ok(own.to_owned());
    }
    let common = Location::of(&own.join(text(&file)?.trim_end_matches('\n'))).real().to_owned();
    // `git worktree` knows this place only.
    let is_usual = own.parent().is_some_and(|it| it == common.join("worktrees"));
    match is_usual {
        true => Ok(common),
        false => Err(Doubt::about(&file, "shares the settings of another repository")),
    }
}

/// Whether a repository that lies elsewhere says that these files are its own, so that no folder can
/// lay claim to the history of another.
fn is_known_there(paths: &RepositoryPaths) -> Result<bool, Doubt> {
    let RepositoryPaths { top, own, common } = paths;
    if own.starts_with(top) {
        return Ok(true);
    }
    if own != common {
        let back = text(&own.join("gitdir"))?;
        let back = Location::of(&own.join(back.trim_end_matches('\n')));
        return Ok(back.real() == top.join(".git"));
    }
    let settings = config::read(&common.join("config"))?;
    let mut files =
        settings.iter().filter(|it| it.key == "core.worktree").filter_map(|it| it.value.as_deref());
    Ok(files.next_back().is_some_and(|value| is_top(paths, value)))
}

/// Whether `core.worktree` names the folder with the files.
pub(super) fn is_top(paths: &RepositoryPaths, value: &str) -> bool {
    Location::of(&paths.common.join(value)).real() == paths.top
}

/// Whether `git` certainly takes a folder for a repository.
fn is_whole(folder: &Path) -> bool {
    is_whole_for(folder, folder)
}

fn is_whole_for(own: &Path, common: &Path) -> bool {
    let is_folder =
        |name: &str| fs::metadata(common.join(name).join(".")).is_ok_and(|it| it.is_dir());
    let head = own.join("HEAD");
    let is_plain = fs::symlink_metadata(&head).is_ok_and(|it| it.is_file());
    is_plain
        && is_folder("objects")
        && is_folder("refs")
        && text(&head).is_ok_and(|it| is_head(&it))
}

/// Whether it names a branch or a commit.
fn is_head(text: &str) -> bool {
    let text = text.trim_end_matches('\n');
    let is_commit = matches!(text.len(), 40 | 64) && text.bytes().all(|it| it.is_ascii_hexdigit());
    let branch = text.strip_prefix("ref: refs/heads/").unwrap_or_default();
    is_commit || !branch.is_empty() && !branch.contains(char::is_whitespace)
}

/// Whether anything is there, be it a link that leads nowhere.
pub(super) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn text(path: &Path) -> Result<String, Doubt> {
    let unreadable = || Doubt::about(path, "cannot be read");
    let is_small = fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= MAX_BYTES);
    is_small.then(|| fs::read_to_string(path).ok()).flatten().ok_or_else(unreadable)
}
