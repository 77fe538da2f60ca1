//! Git branch of a working directory.

use std::{fs, path::Path};

/// The branch that is checked out in a folder; `HEAD` without one.
pub fn git_branch(cwd: &Path) -> String {
    branch(cwd).unwrap_or_else(|| "HEAD".to_owned())
}

fn branch(cwd: &Path) -> Option<String> {
    let entry = cwd.ancestors().map(|folder| folder.join(".git")).find(|entry| entry.exists())?;
    let folder = if entry.is_dir() {
        entry
    } else {
        // A worktree has a file with the path of its folder.
        let text = fs::read_to_string(&entry).ok()?;
        entry.parent()?.join(text.strip_prefix("gitdir:")?.trim())
    };
    let head = fs::read_to_string(folder.join("HEAD")).ok()?;
    head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(git_branch(root), "HEAD");
        fs::create_dir_all(root.join(".git/worktrees/w")).unwrap();
        fs::create_dir_all(root.join("sub/deep")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        assert_eq!(git_branch(&root.join("sub/deep")), "feature/x");
        fs::write(root.join(".git/worktrees/w/HEAD"), "0123abc\n").unwrap();
        fs::write(root.join("sub/.git"), "gitdir: ../.git/worktrees/w\n").unwrap();
        assert_eq!(git_branch(&root.join("sub")), "HEAD");
    }
}
