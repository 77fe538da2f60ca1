//! Path as named and as resolved: `..`, symlinks, and files that do not exist yet.

use std::{
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

/// How many symlinks are followed on the way to one file, as Linux does.
const MAX_LINKS: usize = 40;

/// A path as it was named, and where it really leads.
#[derive(Debug, Clone)]
pub struct Location {
    named: PathBuf,
    real: PathBuf,
    /// Whether the path goes back by `..`, which links on the way decide about.
    goes_back: bool,
}

impl Location {
    /// Finds out where an absolute path leads, with one look at the disk for each of its parts.
    pub fn of(path: &Path) -> Self {
        let goes_back = path.components().any(|part| part == Component::ParentDir);
        Self { named: normalize(path), real: follow(path), goes_back }
    }

    /// The path as it was named, without `.` and `..`.
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// Where it leads, with every symlink followed.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Whether the path goes back by `..` somewhere.
    pub(super) fn goes_back(&self) -> bool {
        self.goes_back
    }

    /// Whether it really lies in this directory, or is it.
    pub fn is_within(&self, directory: &Self) -> bool {
        self.real.starts_with(&directory.real)
    }

    /// The directory it is, or the one it lies in.
    pub(super) fn directory(&self) -> &Path {
        if self.real.is_dir() { &self.named } else { self.parent() }
    }

    /// The directory it lies in.
    pub(super) fn parent(&self) -> &Path {
        self.named.parent().unwrap_or(&self.named)
    }

    /// Both paths; they are often the same.
    pub(super) fn paths(&self) -> [&Path; 2] {
        [&self.named, &self.real]
    }
}

impl PartialEq for Location {
    fn eq(&self, other: &Self) -> bool {
        self.paths() == other.paths()
    }
}

impl Eq for Location {}

fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// Follows symlinks part by part, like the kernel, but goes on where nothing exists: a file that
/// is about to be created has a location as well, even through a dangling link.
fn follow(path: &Path) -> PathBuf {
    let parts = |path: &Path| -> Vec<OsString> {
        path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
    };
    let mut pending = parts(path);
    let mut real = PathBuf::new();
    let mut links = 0;
    while let Some(part) = pending.pop() {
        match Path::new(&part).components().next() {
            Some(Component::Normal(name)) => {
                let next = real.join(name);
                match fs::read_link(&next) {
                    Ok(target) if links < MAX_LINKS => {
                        links += 1;
                        // An absolute target starts over: pushing its root replaces the path.
                        pending.extend(parts(&target));
                    }
                    _ => real = next,
                }
            }
            Some(Component::ParentDir) => {
                real.pop();
            }
            Some(Component::CurDir) | None => {}
            Some(root) => real.push(root),
        }
    }
    real
}
