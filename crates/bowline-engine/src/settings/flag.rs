//! Settings that a host applies while the session runs.

use serde_json::{Map, Value};

use super::{Layer, Settings, SettingsError, Source};

impl Settings {
    /// Applies settings at run time (`apply_flag_settings`).
    ///
    /// A key replaces what was applied under it before and adds to what `--settings`
    /// said; `null` clears it from both. If any value does not fit, nothing is applied.
    pub fn apply_flag_settings(
        &mut self,
        changes: &Map<String, Value>,
    ) -> Result<(), SettingsError> {
        let mut problems = Vec::new();
        let given = changes.iter().filter(|(_, value)| !value.is_null());
        let given = given.map(|(key, value)| (key.clone(), value.clone())).collect();
        let checked = Layer::new(Source::Flag, None, given, &mut problems);
        if !problems.is_empty() {
            return Err(SettingsError::BadValues(problems));
        }
        let cleared = Vec::from_iter(changes.iter().filter(|(_, value)| value.is_null()));
        let flag_layers = self.layers.iter_mut().filter(|layer| layer.source == Source::Flag);
        let mut applied = None;
        for layer in flag_layers {
            for (key, _) in &cleared {
                layer.value.shift_remove(*key);
            }
            layer.refresh();
            applied = Some(layer);
        }
        // Loading always ends the flag layers with the one for what is applied later.
        if let Some(applied) = applied {
            applied.value.extend(checked.value);
            applied.refresh();
        }
        self.merge();
        Ok(())
    }
}

impl Layer {
    /// Reads the known keys again after a change of values that fit.
    fn refresh(&mut self) {
        *self = Self::new(
            self.source,
            self.path.take(),
            std::mem::take(&mut self.value),
            &mut Vec::new(),
        );
    }
}
