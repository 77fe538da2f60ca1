//! Settings that a host applies while the session runs.

use std::mem;

use bowline_protocol::RawJson;

use super::{Layer, Settings, SettingsError, Source, change::Changes};

impl Settings {
    /// Applies settings at run time (`apply_flag_settings`).
    ///
    /// A key replaces what was applied under it before and adds to what `--settings`
    /// said; `null` clears it from both. If any value does not fit, nothing is applied.
    pub fn apply_flag_settings(&mut self, settings: &RawJson) -> Result<(), SettingsError> {
        let Changes { given, cleared } = Changes::read(Source::Flag, settings)?;
        if !self.layers.iter().any(|layer| layer.source == Source::Flag) {
            let at = self.layers.partition_point(|layer| layer.source < Source::Flag);
            let empty = Layer::new(Source::Flag, None, Default::default(), &mut Vec::new());
            self.layers.insert(at, empty);
        }
        let mut flags = self.layers.iter_mut().filter(|layer| layer.source == Source::Flag);
        // Loading always ends the flag layers with the one for what is applied later.
        if let Some(applied) = flags.next_back() {
            applied.change(|value| {
                value.retain(|key, _| !cleared.contains(key));
                value.extend(given);
            });
        }
        for layer in flags {
            layer.change(|value| value.retain(|key, _| !cleared.contains(key)));
        }
        self.merge();
        Ok(())
    }
}

impl Layer {
    /// Changes values in a way that keeps all of them fitting.
    fn change(&mut self, change: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>)) {
        let mut value = mem::take(&mut self.value);
        change(&mut value);
        *self = Self::new(self.source, self.path.take(), value, &mut Vec::new());
    }
}
