//! Which repository `git` finds from a directory, as far as that decides what it may run.

use std::path::Path;

/// Whether the first repository on the way up from here is a bare one.
///
/// The settings of a repository make even `git status` run programs. Inside `.git` they are
/// sensitive files, which nobody changes unasked; a bare repository is made of ordinary ones.
pub(super) fn is_bare_from(directory: &Path) -> bool {
    directory
        .ancestors()
        .take_while(|folder| !folder.join(".git").exists())
        .any(|folder| ["HEAD", "objects", "refs"].iter().all(|name| folder.join(name).exists()))
}
