//! Settings files of a project that is not trusted.

use std::path::{Path, PathBuf};

use super::{ProjectTrust, SettingsPaths, Source, Trust, untrusted_settings::shown};

/// The settings files of an untrusted project. The default has none.
#[derive(Debug, Clone, Default)]
pub(super) struct UntrustedFiles(Option<UntrustedProject>);

#[derive(Debug, Clone)]
struct UntrustedProject {
    trust: ProjectTrust,
    project: PathBuf,
    /// The user's own folder. Where the project is the user's home, its files may lie there.
    own: PathBuf,
}

impl UntrustedFiles {
    /// The untrusted files at `places`.
    pub(super) fn new(places: &SettingsPaths, trust: Trust) -> Self {
        Self((trust == Trust::Untrusted).then(|| UntrustedProject {
            trust: ProjectTrust::new(places, trust),
            project: places.project.clone(),
            own: places.config_dir.clone(),
        }))
    }

    /// Whether this layer is untrusted. Both files of the project are, since either can be part of a
    /// clone.
    pub(super) fn concerns(&self, source: Source, path: Option<&Path>) -> bool {
        let Some(UntrustedProject { own, .. }) = &self.0 else { return false };
        let is_users = path.and_then(Path::parent).is_some_and(|folder| folder == own);
        matches!(source, Source::Project | Source::Local) && !is_users
    }

    /// Whether a file of the project lies in it.
    pub(super) fn admits(&self, path: &Path) -> bool {
        self.0.as_ref().is_none_or(|doubted| doubted.trust.admits(path))
    }

    /// Whether a file of this source may be written at a path.
    pub(super) fn admits_new(&self, source: Source, path: &Path) -> bool {
        let untrusted = self.0.as_ref().filter(|_| self.concerns(source, Some(path)));
        untrusted.is_none_or(|doubted| doubted.trust.admits_new(path))
    }

    /// The path of a file relative to the project.
    pub(super) fn shown(&self, file: &Path) -> String {
        let project = self.0.as_ref().map_or(Path::new(""), |doubted| &doubted.project);
        shown(file, project)
    }
}
