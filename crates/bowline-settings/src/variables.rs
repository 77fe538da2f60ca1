//! Environment variables of settings.

use super::{Layer, Settings, Source};

impl Settings {
    /// The variables that settings set, the ones that win last.
    pub fn variables(&self) -> impl Iterator<Item = (&String, &String)> {
        self.layers().iter().flat_map(|layer| &layer.known.env)
    }

    /// Whether WebFetch may reach this machine and private networks.
    pub fn allows_private_addresses(&self) -> bool {
        self.known().bowline.allow_private_addresses.unwrap_or(false)
    }

    /// Whether commands run without the keys of models. A project can want that, but not take it
    /// back.
    pub fn hides_keys(&self) -> bool {
        let said = |layer: &Layer| layer.known.bowline.hide_keys;
        let is_projects = |layer: &&Layer| matches!(layer.source, Source::Project | Source::Local);
        let users = self.layers().iter().rev().filter(|layer| !is_projects(layer)).find_map(said);
        users == Some(true)
            || self.layers().iter().filter(is_projects).any(|layer| said(layer) == Some(true))
    }
}
