//! Path patterns of rules: gitignore's, from one of four roots.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::location::Location;

/// What the roots of path patterns are.
#[derive(Debug, Clone, Copy)]
pub(super) struct PatternRoots<'a> {
    /// For `src/**` and `./src/**`.
    pub(super) current: &'a Path,
    /// For `~/docs/**`.
    pub(super) home: Option<&'a Path>,
    /// For `/src/**`: the root that belongs to the settings file.
    pub(super) settings: &'a Path,
}

/// How far a pattern without a folder (`*.env`) reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// FolderContents the current directory: enough to allow something.
    Current,
    /// Everywhere: needed to forbid something.
    Everywhere,
}

/// A path pattern of a rule.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    /// The same pattern below its root as named and below its real path, if they differ.
    below: Vec<(PathBuf, Gitignore)>,
    /// Whether the root itself matches.
    root_too: bool,
}

impl PathPattern {
    pub(super) fn new(text: &str, roots: PatternRoots<'_>, reach: Reach) -> Result<Self, String> {
        if text.starts_with('!') {
            return Err("a path pattern cannot be negated".to_owned());
        }
        let (root, pattern) = anchor(text, roots, reach)?;
        let root = Location::of(&root);
        let mut below = Vec::new();
        for path in root.paths() {
            if below.iter().any(|(known, _)| known == path) {
                continue;
            }
            let mut builder = GitignoreBuilder::new(path);
            // gitignore takes `#` for a comment; a rule has none.
            let line =
                if pattern.starts_with('#') { format!("\\{pattern}") } else { pattern.clone() };
            builder.add_line(None, &line).map_err(|error| error.to_string())?;
            below.push((path.to_owned(), builder.build().map_err(|error| error.to_string())?));
        }
        Ok(Self { below, root_too: matches!(pattern.as_str(), "/**" | "**" | "/") })
    }

    /// Whether a location is matched by the pattern, under its own name or its real one.
    pub(super) fn touches(&self, location: &Location) -> bool {
        location.paths().into_iter().any(|path| self.matches(path))
    }

    /// Whether a location is matched by the pattern, or is a folder all of whose files are.
    pub(super) fn touches_or_fills(&self, location: &Location) -> bool {
        // No name that a pattern would single out.
        const ANY: &str = "\u{1}";
        self.touches(location)
            || location.paths().into_iter().any(|path| self.matches(&path.join(ANY)))
    }

    /// Whether a location is matched by the pattern under both its own name and its real one, so that
    /// no symlink leads out.
    pub(super) fn covers(&self, location: &Location) -> bool {
        location.paths().into_iter().all(|path| self.matches(path))
    }

    /// Whether a path is named by the pattern.
    pub(super) fn matches(&self, path: &Path) -> bool {
        self.below.iter().any(|(root, pattern)| match path.strip_prefix(root) {
            Ok(rest) if rest.as_os_str().is_empty() => self.root_too,
            Ok(rest) => pattern.matched_path_or_any_parents(rest, false).is_ignore(),
            Err(_) => false,
        })
    }
}

/// The root of a pattern, and the pattern below it.
fn anchor(text: &str, roots: PatternRoots<'_>, reach: Reach) -> Result<(PathBuf, String), String> {
    if let Some(rest) = text.strip_prefix("//") {
        return Ok(("/".into(), format!("/{rest}")));
    }
    if let Some(rest) =
        text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))
    {
        let home = roots.home.ok_or("there is no home directory")?;
        return Ok((home.to_owned(), if rest.is_empty() { "/**".into() } else { rest.to_owned() }));
    }
    if text.starts_with('/') {
        return Ok((roots.settings.to_owned(), text.to_owned()));
    }
    let mut root = roots.current.to_owned();
    let mut rest = text;
    let mut anchored = false;
    loop {
        if let Some(below) = rest.strip_prefix("./") {
            rest = below;
        } else if let Some(above) = rest.strip_prefix("../") {
            root.pop();
            rest = above;
        } else {
            break;
        }
        anchored = true;
    }
    if matches!(rest, "" | "." | "..") {
        return Err("a path pattern needs a name".to_owned());
    }
    let anywhere =
        !anchored && (rest.starts_with("**/") || !rest.trim_end_matches('/').contains('/'));
    if anywhere && reach == Reach::Everywhere {
        return Ok(("/".into(), rest.to_owned()));
    }
    Ok((root, if anchored { format!("/{rest}") } else { rest.to_owned() }))
}
