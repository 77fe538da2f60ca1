//! What short names of models stand for, where the user says it: a gateway may call them otherwise.

use bowline_engine::{ConnectedModel, Models};
use bowline_model::{ModelError, Providers};

use crate::environment::Environment;

/// The models, by the names that the user has for them.
pub(super) struct AliasedModels {
    models: Providers,
    /// A short name, and what it stands for.
    aliases: Vec<(&'static str, String)>,
}

impl AliasedModels {
    pub(super) fn new(models: Providers, environment: &Environment) -> Self {
        let aliases = environment.model_aliases();
        let aliases = aliases.map(|(alias, model)| (alias, model.to_owned())).collect();
        Self { models, aliases }
    }
}

impl Models for AliasedModels {
    fn connect(&self, name: &str) -> Result<ConnectedModel, ModelError> {
        let meant = self.aliases.iter().find(|(alias, _)| *alias == name);
        Models::connect(&self.models, meant.map_or(name, |(_, model)| model))
    }
}
