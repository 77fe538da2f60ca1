//! Embedded agent: the engine inside the host's process.

mod apply;
mod connection;
mod host;
mod queue;
mod setup;
mod tool;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_engine::{ConnectedModel, Models, SessionConfig, settings::SettingsPaths};
use bowline_model::{Model, ModelError, script::ScriptModel};

/// An agent inside the host's process: the engine is called directly, without a child process or
/// JSON.
///
/// By default nothing is read from or written to disk. Settings files are read with
/// [`setting_sources`](crate::Options::setting_sources), transcripts are written with
/// [`saved_in`](Self::saved_in). [`Options`](crate::Options) take precedence over the configuration
/// here.
#[derive(Clone)]
pub struct Embedded {
    cwd: PathBuf,
    models: Arc<dyn Models>,
    model: String,
    home: Option<PathBuf>,
    changes: Vec<Arc<Change>>,
}

/// A change that the program makes to the configuration of each session.
type Change = dyn Fn(&mut SessionConfig) + Send + Sync;

impl Embedded {
    /// An agent in `cwd` that uses `model` of `models`.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    ///
    /// use bowline_host::{Embedded, Options, model::Providers};
    ///
    /// let mut providers = Providers::new();
    /// providers.anthropic.api_key = Some("the key".into());
    /// let agent = Embedded::new("/srv/project", Arc::new(providers), "claude-sonnet-4-5");
    /// let options = Options::default().embedded(agent);
    /// ```
    pub fn new(cwd: impl Into<PathBuf>, models: Arc<dyn Models>, model: impl Into<String>) -> Self {
        let (cwd, model) = (cwd.into(), model.into());
        Self { cwd, models, model, home: None, changes: Vec::new() }
    }

    /// An agent in `cwd` whose model executes its prompts line by line, offline and
    /// deterministically (`SAY hello`, `TOOL Read {"file_path": "/etc/hosts"}` …): for tests and
    /// examples.
    pub fn script(cwd: impl Into<PathBuf>) -> Self {
        Self::new(cwd, Arc::new(SingleModel(Arc::new(ScriptModel::new()))), "script")
    }

    /// The same with a separate script, so that prompts can be ordinary ones.
    pub fn with_script(cwd: impl Into<PathBuf>, script: impl Into<String>) -> Self {
        let model = Arc::new(ScriptModel::with_script(script));
        Self::new(cwd, Arc::new(SingleModel(model)), "script")
    }

    /// Keeps transcripts in this configuration folder, where other agents that use it find them;
    /// the user's settings are looked for there, too.
    #[must_use]
    pub fn saved_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.home = Some(folder.into());
        self
    }

    /// Changes any other field of the engine's configuration, for every session.
    #[must_use]
    pub fn configure(
        mut self,
        change: impl Fn(&mut SessionConfig) + Send + Sync + 'static,
    ) -> Self {
        self.changes.push(Arc::new(change));
        self
    }

    /// Configuration of the engine for one session, before the options apply.
    fn config(&self, cwd: Option<&Path>) -> SessionConfig {
        let cwd = cwd.unwrap_or(&self.cwd);
        let mut config = SessionConfig::new(cwd, self.models.clone(), &self.model);
        if let Some(home) = &self.home {
            config.places = SettingsPaths::new(home, cwd);
        }
        for change in &self.changes {
            change(&mut config);
        }
        config
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded")
            .field("cwd", &self.cwd)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// Resolves every name to one model.
struct SingleModel(Arc<dyn Model>);

impl Models for SingleModel {
    fn connect(&self, name: &str) -> Result<ConnectedModel, ModelError> {
        let (name, wire_name) = (name.to_owned(), name.to_owned());
        Ok(ConnectedModel { model: self.0.clone(), wire_name, name })
    }
}
