//! Where an agent works, and where it keeps what it keeps.

use std::path::PathBuf;

use super::Options;
#[cfg(feature = "embedded")]
use super::Transport;
use crate::Error;

/// Variables that name the agent's configuration folder.
pub(crate) const CONFIG_DIR: [&str; 2] = ["BOWLINE_CONFIG_DIR", "CLAUDE_CONFIG_DIR"];

impl Options {
    /// Where the agent works.
    pub(crate) fn directory(&self) -> Result<PathBuf, Error> {
        match (&self.cwd, &self.transport) {
            (Some(cwd), _) => Ok(cwd.clone()),
            #[cfg(feature = "embedded")]
            (None, Transport::Embedded(agent)) => Ok(agent.cwd().to_owned()),
            (None, _) => std::env::current_dir()
                .map_err(|error| Error::connection("finding the working directory", error)),
        }
    }

    /// The configuration folder that the agent uses by itself.
    pub(crate) fn config_folder(&self) -> PathBuf {
        #[cfg(feature = "embedded")]
        if let Transport::Embedded(agent) = &self.transport {
            // One that keeps nothing reads no settings either.
            return agent.home().map(ToOwned::to_owned).unwrap_or_default();
        }
        let is_official = |path: &PathBuf| path.file_name().is_some_and(|name| name == "claude");
        let name = match self.cli_path.as_ref().is_some_and(is_official) {
            true => ".claude",
            false => ".bowline",
        };
        let given = CONFIG_DIR.iter().find_map(|name| match self.env.get(*name) {
            Some(value) => value.as_ref().map(Into::into),
            None if self.clear_env => None,
            None => std::env::var_os(name),
        });
        match given {
            Some(folder) => folder.into(),
            None => std::env::home_dir().unwrap_or_default().join(name),
        }
    }
}
