//! Worktrees: folders elsewhere that belong to a repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The main folder of the repository that a worktree around `folder` belongs to.
///
/// A folder can claim in its `.git` file to belong to any repository. So the repository has to
/// name the worktree, too.
pub(super) fn main_folder(folder: &Path) -> Option<PathBuf> {
    let link = folder.ancestors().map(|above| above.join(".git")).find(|git| git.exists())?;
    if !link.is_file() {
        return None;
    }
    let data = named_in(&link, "gitdir:")?;
    let named = named_in(&data.join("gitdir"), "")?;
    if named != fs::canonicalize(&link).ok()? {
        return None;
    }
    // REPOSITORY/.git/worktrees/NAME
    let worktrees = data.parent().filter(|folder| folder.ends_with(".git/worktrees"))?;
    worktrees.parent()?.parent().map(Path::to_path_buf)
}

/// The real path that a file of git's names.
fn named_in(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = bowline_private::read_regular(file).ok()?;
    let path = text.strip_prefix(prefix)?.trim();
    fs::canonicalize(file.parent()?.join(path)).ok()
}
