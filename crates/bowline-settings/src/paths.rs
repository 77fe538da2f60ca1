//! Paths of the folders and files that settings are read from, found by the program that starts a session.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// The paths of settings and state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsPaths {
    /// The user's configuration folder.
    pub config_dir: PathBuf,
    /// The folder whose `.claude` holds the project's settings.
    pub project: PathBuf,
    /// The folder of the administrator's settings.
    pub managed_dir: PathBuf,
    /// The state of the official CLI in the configuration folder, which records among other things the
    /// folders that its user trusts.
    pub global_state: PathBuf,
    /// The same where the official CLI keeps it by itself, if that is known.
    pub official_state: Option<PathBuf>,
    /// The user's home folder, if that is known.
    pub home: Option<PathBuf>,
}

impl SettingsPaths {
    /// Where managed settings live on this system.
    pub const MANAGED_DIR: &'static str = "/etc/claude-code";

    /// The default paths for a configuration folder and a project.
    pub fn new(config_dir: impl Into<PathBuf>, project: impl Into<PathBuf>) -> Self {
        let config_dir = config_dir.into();
        Self {
            global_state: config_dir.join(".claude.json"),
            config_dir,
            project: project.into(),
            managed_dir: PathBuf::from(Self::MANAGED_DIR),
            official_state: None,
            home: None,
        }
    }

    /// The project's folder and those above it in the same repository, nearest first: where what a
    /// project brings may lie. Further up, and where there is no repository, it may belong to anyone.
    pub fn project_folders(&self) -> Vec<&Path> {
        let folders = || self.project.ancestors();
        let top = folders().position(|folder| folder.join(".git").exists());
        // A repository that another user has made around it brings nothing.
        let owner = |folder: &Path| fs::metadata(folder).map(|about| about.uid()).ok();
        let is_own = |folder: &Path| owner(folder) == owner(&self.project);
        let top = top.filter(|top| folders().take(top + 1).all(is_own));
        let is_users = |folder: &&Path| folder.join(".claude") == self.config_dir;
        folders().take(top.map_or(1, |top| top + 1)).filter(|folder| !is_users(folder)).collect()
    }

    /// The user's file.
    pub fn user_file(&self) -> PathBuf {
        self.config_dir.join("settings.json")
    }

    /// The folder in which logins to MCP servers are kept.
    pub fn mcp_logins(&self) -> PathBuf {
        self.config_dir.join("mcp-logins")
    }

    /// The file in which the user's trust in folders is recorded.
    pub fn trust_file(&self) -> PathBuf {
        self.config_dir.join("trust.json")
    }

    /// The files in which the official CLI records the trust of its user.
    pub(super) fn official_states(&self) -> impl Iterator<Item = PathBuf> {
        [Some(self.global_state.clone()), self.official_state.clone()].into_iter().flatten()
    }

    /// Whether a real path is that of the home folder or of one above it.
    pub(super) fn is_above_home(&self, real: &Path) -> bool {
        let home = self.home.as_ref().and_then(|home| fs::canonicalize(home).ok());
        real.parent().is_none() || home.is_some_and(|home| home.starts_with(real))
    }

    /// The project's file.
    pub fn project_file(&self) -> PathBuf {
        self.project.join(".claude/settings.json")
    }

    /// The user's file in the project.
    pub fn local_file(&self) -> PathBuf {
        self.project.join(".claude/settings.local.json")
    }

    /// The main file of managed settings.
    pub fn managed_file(&self) -> PathBuf {
        self.managed_dir.join("managed-settings.json")
    }

    /// The folder of further managed settings, read in the order of their names.
    pub fn managed_drop_ins(&self) -> PathBuf {
        self.managed_dir.join("managed-settings.d")
    }

    /// A path as it is shown: relative to the project where it lies in it.
    pub fn shown<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.project).unwrap_or(path)
    }
}
