//! File suggestions for a text that is being typed.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

/// How many suggestions are made.
const MOST: usize = 15;
/// How many files are scanned, so that the user does not wait while typing.
const MOST_LOOKED_AT: usize = 50_000;

/// A file or folder that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suggestion {
    /// Relative to the searched folder.
    pub(super) path: PathBuf,
    pub(super) is_folder: bool,
}

/// The matches, best first; the top level if nothing was typed. Files that git ignores or that may
/// not be read are left out.
pub(super) fn suggest(
    folder: &Path,
    typed: &str,
    may_know: impl Fn(&Path) -> bool,
) -> Vec<Suggestion> {
    let depth = if typed.is_empty() { Some(1) } else { None };
    let walk = WalkBuilder::new(folder).max_depth(depth).build();
    let mut found = Vec::new();
    for entry in walk.flatten().skip(1).take(MOST_LOOKED_AT) {
        let Ok(path) = entry.path().strip_prefix(folder) else { continue };
        let Some(rank) = rank(&path.to_string_lossy(), typed) else { continue };
        if may_know(entry.path()) {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            found.push((rank, Suggestion { path: path.to_owned(), is_folder }));
        }
    }
    found.sort_by(|(a, first), (b, second)| a.cmp(b).then_with(|| first.path.cmp(&second.path)));
    found.into_iter().take(MOST).map(|(_, suggestion)| suggestion).collect()
}

/// The rank of a path, smaller is better: prefix of the name, part of the name, part of the path,
/// subsequence of the path; then by length.
fn rank(path: &str, typed: &str) -> Option<(u8, usize)> {
    let (lower, typed) = (path.to_lowercase(), typed.to_lowercase());
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let kind = if name.starts_with(&typed) {
        0
    } else if name.contains(&typed) {
        1
    } else if lower.contains(&typed) {
        2
    } else {
        let mut letters = lower.chars();
        typed.chars().all(|wanted| letters.any(|letter| letter == wanted)).then_some(3)?
    };
    Some((kind, path.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(folder: &Path, typed: &str) -> Vec<String> {
        let known = |path: &Path| !path.ends_with("secret.txt");
        let found = suggest(folder, typed, known);
        found.iter().map(|it| it.path.display().to_string()).collect()
    }

    #[test]
    fn names_rank_before_paths_and_paths_before_subsequences() {
        let folder = tempfile::tempdir().unwrap();
        for file in
            ["main.rs", "src/domain.rs", "main/other.rs", "m/a/i/n.rs", "none.txt", "secret.txt"]
        {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        assert_eq!(
            paths(folder.path(), "Main"),
            ["main", "main.rs", "src/domain.rs", "main/other.rs", "m/a/i/n.rs"]
        );
        assert_eq!(paths(folder.path(), "secret"), [""; 0]);
        assert_eq!(paths(folder.path(), ""), ["m", "src", "main", "main.rs", "none.txt"]);
    }
}
