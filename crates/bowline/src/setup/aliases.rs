//! Aliases of models that the environment redefines: a gateway may have other names.

use bowline_engine::{ConnectedModel, Models};
use bowline_model::{ModelError, Providers};

use crate::environment::Environment;

/// Models, with the aliases of the environment.
pub(super) struct AliasedModels {
    models: Providers,
    /// An alias, and its model.
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
