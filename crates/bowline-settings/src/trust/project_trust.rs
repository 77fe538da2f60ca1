//! Trust in a project, applied to a file that it brings.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{super::SettingsPaths, Trust};

/// Trust in the project of a session, and the folder that the project ends at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectTrust {
    trust: Trust,
    /// The real path of its outermost folder.
    root: PathBuf,
}

impl ProjectTrust {
    /// Trust in the project at `places`.
    pub fn new(places: &SettingsPaths, trust: Trust) -> Self {
        let folders = places.project_folders();
        let top = folders.last().copied().unwrap_or(&places.project);
        let root = real(top).filter(|top| !places.is_above_home(top));
        // A folder without a real path admits no file.
        let root = root.or_else(|| real(&places.project));
        Self { trust, root: root.unwrap_or_default() }
    }

    /// Whether the project is trusted.
    pub fn is_trusted(&self) -> bool {
        self.trust == Trust::Trusted
    }

    /// Whether a file that the project brings may be read: in a project that is not trusted, links
    /// must not lead out of it.
    pub fn admits(&self, path: &Path) -> bool {
        self.is_trusted() || real(path).is_some_and(|real| self.contains(&real))
    }

    /// The same for a file that would be written, which need not exist.
    pub fn admits_new(&self, path: &Path) -> bool {
        // A dangling link leads somewhere, too.
        let is_there = |path: &&Path| path.symlink_metadata().is_ok();
        path.ancestors().find(is_there).is_some_and(|there| self.admits(there))
    }

    /// Whether a real path lies in the project.
    pub fn contains(&self, real: &Path) -> bool {
        !self.root.as_os_str().is_empty() && real.starts_with(&self.root)
    }

    /// The real path of the project's outermost folder.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}
