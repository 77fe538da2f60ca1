//! Working directory and configuration folder of an agent.

use std::path::PathBuf;

use super::Options;
use crate::error::Error;

/// Variables that name the agent's configuration folder.
pub(crate) const CONFIG_DIR: [&str; 2] = ["BOWLINE_CONFIG_DIR", "CLAUDE_CONFIG_DIR"];

impl Options {
    /// Where the agent works.
    pub(crate) fn directory(&self) -> Result<PathBuf, Error> {
        let storage = self.transport.connect().and_then(|connect| connect.storage());
        match (&self.cwd, storage) {
            (Some(cwd), _) => Ok(cwd.clone()),
            (None, Some(storage)) => Ok(storage.cwd().to_owned()),
            (None, None) => std::env::current_dir()
                .map_err(|error| Error::connection("finding the working directory", error)),
        }
    }

    /// The configuration folder that the agent uses by itself.
    #[expect(
        clippy::disallowed_methods,
        reason = "the SDK reads the environment of the program it is part of, where its options leave it open"
    )]
    pub(crate) fn config_folder(&self) -> PathBuf {
        if let Some(storage) = self.transport.connect().and_then(|connect| connect.storage()) {
            // Without a configuration folder it reads no settings either.
            return storage.home().map(ToOwned::to_owned).unwrap_or_default();
        }
        let is_official = |path: &PathBuf| path.file_name().is_some_and(|name| name == "claude");
        let name = match self.process.cli_path.as_ref().is_some_and(is_official) {
            true => ".claude",
            false => ".bowline",
        };
        let given = CONFIG_DIR.iter().find_map(|name| match self.process.env.get(*name) {
            Some(value) => value.as_ref().map(Into::into),
            None if self.process.clear_env => None,
            None => std::env::var_os(name),
        });
        match given {
            Some(folder) => folder.into(),
            None => std::env::home_dir().unwrap_or_default().join(name),
        }
    }
}
