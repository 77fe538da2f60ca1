//! The answer to `get_settings`.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Settings, Source, merge::merge_objects};

/// What holds, who says so, and what the session made of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingsPayload {
    /// Everything merged.
    pub effective: Map<String, Value>,
    /// Each source that says something, lowest precedence first.
    pub sources: Vec<SourceSettings>,
    /// What the session runs with, which the engine adds.
    pub applied: Map<String, Value>,
}

/// What one source says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SourceSettings {
    /// The source.
    pub source: Source,
    /// All its layers, merged.
    pub settings: Map<String, Value>,
}

impl Settings {
    /// The answer to `get_settings`, with what the session runs with.
    pub fn payload(&self, applied: Map<String, Value>) -> SettingsPayload {
        let mut sources: Vec<SourceSettings> = Vec::new();
        for layer in self.layers() {
            if layer.value.is_empty() {
                continue;
            }
            match sources.iter_mut().find(|found| found.source == layer.source) {
                Some(found) => merge_objects(&mut found.settings, &layer.value),
                None => sources.push(SourceSettings {
                    source: layer.source,
                    settings: layer.value.clone(),
                }),
            }
        }
        SettingsPayload { effective: self.effective().clone(), sources, applied }
    }
}
