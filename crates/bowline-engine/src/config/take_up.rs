//! Finding the session that a configuration is for.

use bowline_sessions::{ConfigHome, LineOrigin, ProjectKey, SessionError, TakeUp, git_branch};

use super::SessionConfig;

impl SessionConfig {
    /// Goes on with the session that is wanted, or begins one, where and as whom this configuration
    /// says so far: its folder, places, version and entrypoint.
    ///
    /// `project` is the name of the folder among the sessions, if it is not the usual one.
    pub fn take_up(
        &mut self,
        wanted: &TakeUp,
        project: Option<ProjectKey>,
    ) -> Result<(), SessionError> {
        let origin = LineOrigin {
            cwd: self.cwd.display().to_string(),
            version: self.version.clone(),
            git_branch: git_branch(&self.cwd),
            entrypoint: self.entrypoint.clone(),
        };
        let home = ConfigHome::new(&self.places.config_dir);
        let project = project.unwrap_or_else(|| ProjectKey::for_directory(&self.cwd));
        let taken_up = wanted.open(&home, &project, origin)?;
        self.session_id = taken_up.id;
        self.transcript = taken_up.transcript;
        self.resumed = taken_up.context;
        if self.transcript.is_some() {
            home.close_to_others()?;
        }
        Ok(())
    }
}
