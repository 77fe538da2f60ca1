//! Resuming of a session by its configuration.

use bowline_sessions::{
    ConfigHome, LineOrigin, ProjectKey, SessionError, StartOptions, git_branch,
};

use super::SessionConfig;

impl SessionConfig {
    /// Resumes the session that is wanted, or begins a new one, with the working directory, paths,
    /// version and entrypoint that the configuration has so far.
    ///
    /// `project` is the name of the folder among the sessions, if it is not the usual one.
    pub fn resume(
        &mut self,
        wanted: &StartOptions,
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
        let resumed = wanted.open(&home, &project, origin)?;
        self.session_id = resumed.id;
        self.transcript = resumed.transcript;
        self.resumed = resumed.context;
        if self.transcript.is_some() {
            home.close_to_others()?;
        }
        Ok(())
    }
}
