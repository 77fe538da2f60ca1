//! Paths as models write them, made absolute without touching the disk.

use std::path::{Component, Path, PathBuf};

/// Takes `.` and `..` out of an absolute path by name alone.
pub fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // At the root this does nothing, as in the file system.
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

pub(super) fn resolve(current: &Path, path: &str) -> PathBuf {
    let home = |rest: &str| std::env::home_dir().map(|home| home.join(rest));
    let from_home = match path {
        "~" => home(""),
        _ => path.strip_prefix("~/").and_then(home),
    };
    normalize(&from_home.unwrap_or_else(|| current.join(path)))
}

pub(super) fn display(current: &Path, path: &Path) -> String {
    let shown = match path.strip_prefix(current) {
        Ok(relative) if !relative.as_os_str().is_empty() => relative,
        _ => path,
    };
    shown.to_string_lossy().into_owned()
}
