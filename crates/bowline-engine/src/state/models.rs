//! Model selection: the session's model, its effort and thinking, and connections to models.

use std::sync::Arc;

use bowline_model::{ModelError, Thinking, known_model};
use bowline_protocol::Effort;
use parking_lot::Mutex;

use crate::config::{ConnectedModel, Models, SessionConfig};

/// The model that a session uses, and how.
pub(crate) struct ModelSelection {
    models: Arc<dyn Models>,
    choice: Mutex<Choice>,
}

#[derive(Debug, Clone)]
struct Choice {
    /// The model, as it was requested.
    model: String,
    thinking: Option<Thinking>,
    effort: Option<Effort>,
}

impl ModelSelection {
    pub(crate) fn new(config: &SessionConfig) -> Self {
        let SessionConfig { model, thinking, effort, .. } = config;
        let choice = Choice { model: model.clone(), thinking: *thinking, effort: *effort };
        Self { models: Arc::clone(&config.models), choice: Mutex::new(choice) }
    }

    /// Connects to a model by name or alias.
    pub(crate) fn connect(&self, name: &str) -> Result<ConnectedModel, ModelError> {
        self.models.connect(name)
    }

    /// Connects to the session's model.
    pub(crate) fn connect_selected(&self) -> Result<ConnectedModel, ModelError> {
        self.models.connect(&self.requested())
    }

    /// The session's model, as it was requested.
    pub(crate) fn requested(&self) -> String {
        self.choice.lock().model.clone()
    }

    pub(crate) fn select(&self, model: impl Into<String>) {
        self.choice.lock().model = model.into();
    }

    /// The name of the session's model; as it was requested if it cannot be connected.
    pub(crate) fn name(&self) -> String {
        self.connect_selected().map_or_else(|_| self.requested(), |connected| connected.name)
    }

    /// The name of a model, whether or not it can be connected.
    pub(crate) fn resolve(&self, name: &str) -> String {
        match self.connect(name) {
            Ok(connected) => connected.name,
            Err(_) => known_model(name).map_or(name, |known| known.id).to_owned(),
        }
    }

    pub(crate) fn thinking(&self) -> Option<Thinking> {
        self.choice.lock().thinking
    }

    pub(crate) fn set_thinking(&self, thinking: Option<Thinking>) {
        self.choice.lock().thinking = thinking;
    }

    pub(crate) fn effort(&self) -> Option<Effort> {
        self.choice.lock().effort
    }

    pub(crate) fn set_effort(&self, effort: Option<Effort>) {
        self.choice.lock().effort = effort;
    }

    /// The effort level; `None` if the model has none.
    pub(crate) fn effort_level(&self) -> Option<String> {
        let takes_effort = known_model(&self.name()).is_none_or(|known| known.takes_effort);
        let level = self.effort().map_or("medium", Effort::as_str);
        takes_effort.then(|| level.to_owned())
    }
}
