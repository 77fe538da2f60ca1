//! Files that a pathname pattern of the shell matches now.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use bowline_shell::{Component, Pattern};

/// How many files a pattern may name before there are too many to look at.
const MAX_EXPANDED: usize = 4096;

/// The paths below `base` that any shell might substitute for a pattern, or `None` if they are too
/// many to look at, or cannot all be seen.
pub(super) fn expand(base: &Path, pattern: &Pattern) -> Option<Vec<PathBuf>> {
    let mut found = vec![base.to_owned()];
    for (at, component) in pattern.components.iter().enumerate() {
        match component {
            // An absolute pattern begins with an empty component, and slashes may be doubled.
            Component::Plain(name) if name.is_empty() && at == 0 => found = vec!["/".into()],
            Component::Plain(name) if name.is_empty() => {}
            Component::Plain(name) => found.iter_mut().for_each(|path| path.push(name)),
            Component::Wild(wildcard) => {
                let mut matching = Vec::new();
                for folder in &found {
                    // Some shells find these by `.*`, and no listing has them.
                    for special in [".", ".."] {
                        if wildcard.may_match(special.as_bytes()) {
                            matching.push(folder.join(special));
                        }
                    }
                    // What is not a folder, or not readable, has nothing for the shell either.
                    let Ok(entries) = fs::read_dir(folder) else { continue };
                    for entry in entries {
                        let name = entry.ok()?.file_name();
                        if wildcard.may_match(name.as_bytes()) {
                            matching.push(folder.join(name));
                        }
                        if matching.len() > MAX_EXPANDED {
                            return None;
                        }
                    }
                }
                found = matching;
            }
        }
    }
    Some(found)
}
