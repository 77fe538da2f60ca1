//! Merged settings of all layers: scalars by precedence, lists united, objects key by key.

use std::path::Path;

use serde_json::{Map, Value};

use super::{KnownSettings, Layer, Problem, SkippedParts, Source, untrusted_files::UntrustedFiles};

/// All settings of a session, layer by layer and merged. The default has none.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Lowest precedence first. A source may have several.
    pub(super) layers: Vec<Layer>,
    effective: Map<String, Value>,
    known: KnownSettings,
    problems: Vec<Problem>,
    hooks_ignored: bool,
    /// Files of an untrusted project; their layers are reduced to keys that grant nothing.
    pub(super) untrusted: UntrustedFiles,
}

/// One effective value and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Traced<'a> {
    /// The merged value.
    pub value: &'a Value,
    /// The highest layer that has a part in it.
    pub source: Source,
    /// That layer's file, if it is one.
    pub path: Option<&'a Path>,
}

impl Settings {
    /// Merges layers that are given from the lowest precedence to the highest.
    pub(super) fn from_layers(
        layers: Vec<Layer>,
        problems: Vec<Problem>,
        untrusted: UntrustedFiles,
    ) -> Self {
        let mut settings = Self { layers, problems, untrusted, ..Self::default() };
        settings.merge();
        settings
    }

    /// Brings the merged view up to date with the layers.
    pub(super) fn merge(&mut self) {
        let mut effective = Map::new();
        for layer in &self.layers {
            merge_objects(&mut effective, &layer.value);
        }
        // Values of a wrong type were already removed from each layer.
        self.known = KnownSettings::take_from(&mut effective.clone(), |key, message| {
            tracing::warn!(key, message, "a merged setting has the wrong type");
        });
        self.effective = effective;
    }

    /// The merged values of all keys.
    pub fn effective(&self) -> &Map<String, Value> {
        &self.effective
    }

    /// The effective values of the keys that Bowline knows.
    ///
    /// Permission rules and hooks are not read from here, because what they
    /// may do depends on their source: see [`permissions`](Self::permissions)
    /// and [`layers`](Self::layers).
    pub fn known(&self) -> &KnownSettings {
        &self.known
    }

    /// The layers, lowest precedence first.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The parts of the layers that do not apply, because the project is not trusted.
    pub fn left_out(&self) -> SkippedParts {
        let mut all = SkippedParts::default();
        self.layers.iter().for_each(|layer| all.extend(layer.left_out.clone()));
        all
    }

    /// Whether a layer is untrusted.
    pub fn is_untrusted(&self, layer: &Layer) -> bool {
        self.untrusted.concerns(layer.source, layer.path.as_deref())
    }

    /// Disables all hooks but those of managed settings.
    pub fn ignore_hooks(&mut self) {
        self.hooks_ignored = true;
    }

    /// Whether only managed hooks run, whatever other settings define.
    pub fn hooks_ignored(&self) -> bool {
        self.hooks_ignored
    }

    /// Problems found while loading: invalid parts, which were skipped.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// One effective value by its path, as in `permissions.defaultMode`.
    pub fn get(&self, path: &str) -> Option<Traced<'_>> {
        let value = value_at(&self.effective, path)?;
        let (layer, _) = self.origins(path).next_back()?;
        Some(Traced { value, source: layer.source, path: layer.path.as_deref() })
    }

    /// Every layer that has a value at a path, lowest precedence first.
    pub fn origins<'a>(
        &'a self,
        path: &str,
    ) -> impl DoubleEndedIterator<Item = (&'a Layer, &'a Value)> {
        self.layers.iter().filter_map(move |layer| Some((layer, value_at(&layer.value, path)?)))
    }
}

fn value_at<'a>(object: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut keys = path.split('.');
    let first = object.get(keys.next()?)?;
    keys.try_fold(first, |value, key| value.get(key))
}

/// Merges a higher layer into lower ones.
pub(super) fn merge_objects(into: &mut Map<String, Value>, from: &Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(Value::Object(into)), Value::Object(from)) => merge_objects(into, from),
            (Some(Value::Array(into)), Value::Array(from)) => {
                for item in from {
                    if !into.contains(item) {
                        into.push(item.clone());
                    }
                }
            }
            (Some(lower), _) => *lower = value.clone(),
            (None, _) => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}
