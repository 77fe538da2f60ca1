//! An agent in this very process.

mod apply;
mod connection;
mod host;
mod queue;

use std::{fmt, path::PathBuf, sync::Arc};

use bowline_engine::{ConnectedModel, Models, SessionConfig};
use bowline_model::{Model, ModelError, script::ScriptModel};

pub(crate) use connection::EmbeddedConnection;

/// An agent in this very process: the engine itself, with no process and no JSON in between.
///
/// What [`Options`](crate::Options) say is put over the configuration. What only a process can
/// do (settings files, resuming by id, other flags) is an error there; say it in the
/// configuration.
pub struct Embedded {
    /// How the engine is set up.
    pub config: SessionConfig,
}

impl Embedded {
    /// An agent that is set up like this.
    pub fn new(config: SessionConfig) -> Self {
        Self { config }
    }

    /// An agent in `cwd` whose model does what its prompts say, line by line, offline and always
    /// the same (`SAY hello`, `TOOL Read {"file_path": "/etc/hosts"}` …): for tests and examples.
    pub fn script(cwd: impl Into<PathBuf>) -> Self {
        Self::new(SessionConfig::new(cwd, Arc::new(Always(Arc::new(ScriptModel::new()))), "script"))
    }

    /// The same with a script of its own, so that prompts can be ordinary ones.
    pub fn with_script(cwd: impl Into<PathBuf>, script: impl Into<String>) -> Self {
        let model = Arc::new(ScriptModel::with_script(script));
        Self::new(SessionConfig::new(cwd, Arc::new(Always(model)), "script"))
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded").field("cwd", &self.config.cwd).finish_non_exhaustive()
    }
}

/// One model under every name.
struct Always(Arc<dyn Model>);

impl Models for Always {
    fn connect(&self, name: &str) -> Result<ConnectedModel, ModelError> {
        let (name, wire_name) = (name.to_owned(), name.to_owned());
        Ok(ConnectedModel { model: self.0.clone(), wire_name, name })
    }
}
