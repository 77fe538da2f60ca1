//! The files that a git repository tracks, read from its index.
//!
//! `git diff` and its kin show files that no argument names. Asking git itself would take a process for
//! every command that is judged.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{below::Below, location::Location};

/// An index of this size has some million files.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The tracked files of the repository around a directory, if there is one. An index that cannot
/// be read makes the list incomplete.
pub(super) fn tracked_from(directory: &Path) -> Option<Below> {
    let root =
        directory.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
    let folder = Location::of(root);
    let index = git_directory(&root.join(".git"))?.join("index");
    let entries = match fs::metadata(&index) {
        Err(_) => Some(Vec::new()),
        Ok(found) if found.len() > MAX_BYTES => None,
        Ok(_) => fs::read(&index).ok().and_then(|bytes| paths(&bytes)),
    };
    Some(Below::of(folder, entries))
}

/// Where `.git` leads: it may be a file that names another folder.
fn git_directory(found: &Path) -> Option<PathBuf> {
    if found.is_dir() {
        return Some(found.to_owned());
    }
    let text = fs::read_to_string(found).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim();
    Some(found.parent()?.join(target))
}

/// The paths in an index of version 2, 3 or 4.
fn paths(bytes: &[u8]) -> Option<Vec<PathBuf>> {
    let (header, rest) = bytes.split_at_checked(12)?;
    let number = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?));
    let version = number(4)?;
    if !header.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    // Object names have 20 bytes, or 32 in repositories with SHA-256, which nothing here tells.
    let count = number(8)?;
    [20, 32].into_iter().find_map(|hash| entries(rest, count, version, hash))
}

fn entries(mut rest: &[u8], count: u32, version: u32, hash: usize) -> Option<Vec<PathBuf>> {
    const EXTENDED: u16 = 0x4000;
    let mut found = Vec::new();
    let mut previous: Vec<u8> = Vec::new();
    for _ in 0..count {
        let whole = rest;
        let fixed = 40 + hash;
        let flags = u16::from_be_bytes(rest.get(fixed..fixed + 2)?.try_into().ok()?);
        let extended = if flags & EXTENDED != 0 { 2 } else { 0 };
        let mut name = rest.get(fixed + 2 + extended..)?;
        if version == 4 {
            let dropped = offset(&mut name)?;
            previous.truncate(previous.len().checked_sub(dropped)?);
        } else {
            previous.clear();
        }
        let end = name.iter().position(|byte| *byte == 0)?;
        previous.extend_from_slice(&name[..end]);
        let length = whole.len() - name.len() + end;
        // Up to version 3, entries are padded with one to eight zeros.
        let padded = if version == 4 { length + 1 } else { (length + 8) & !7 };
        rest = whole.get(padded..)?;
        let text = std::str::from_utf8(&previous).ok()?;
        if text.is_empty() || text.starts_with('/') {
            return None;
        }
        found.push(PathBuf::from(text));
    }
    Some(found)
}

/// A number of variable length, as git writes offsets.
fn offset(bytes: &mut &[u8]) -> Option<usize> {
    let mut value: usize = 0;
    loop {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value = value.checked_mul(128)?.checked_add(usize::from(first & 0x7F))?;
        if first & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn tracked_files_are_those_that_git_lists() {
        for version in ["2", "3", "4"] {
            let folder = tempfile::tempdir().expect("a folder");
            let git = |words: &[&str]| {
                let done = Command::new("git").arg("-C").arg(folder.path()).args(words).output();
                assert!(done.expect("git").status.success(), "{words:?}");
            };
            fs::create_dir_all(folder.path().join("src/deep")).expect("folders");
            for name in ["a", "bb", "src/ccc", "src/deep/dddd", "src/deep/eeeeeeeee", ".env"] {
                fs::write(folder.path().join(name), name).expect("a file");
            }
            git(&["init", "-q"]);
            git(&["add", "a", "bb", "src"]);
            git(&["update-index", "--index-version", version]);
            let below = tracked_from(&folder.path().join("src")).expect("a repository");
            let mut names: Vec<_> = below.entries().expect("complete").to_vec();
            names.sort();
            let expected = ["a", "bb", "src/ccc", "src/deep/dddd", "src/deep/eeeeeeeee"];
            assert_eq!(names, expected.map(PathBuf::from), "version {version}");
        }
    }

    #[test]
    fn a_broken_index_is_not_taken_for_an_empty_one() {
        assert_eq!(paths(b"DIRC"), None);
        assert_eq!(paths(b"DIRC\0\0\0\x02\0\0\0\x01short"), None);
        assert_eq!(paths(b"XXXX\0\0\0\x02\0\0\0\0"), None);
    }
}
