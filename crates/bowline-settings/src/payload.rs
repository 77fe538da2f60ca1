//! Response to `get_settings`.

use bowline_protocol::{AppliedSettings, GetSettingsResponse, RawJson, SettingsSource};
use serde_json::{Map, Value};

use super::{Settings, Source, merge::merge_objects};

impl Settings {
    /// What holds, who says so, and what the session made of it (`get_settings`).
    ///
    /// Sources are listed from the lowest precedence to the highest, each with all its layers.
    pub fn payload(&self, applied: AppliedSettings) -> GetSettingsResponse {
        let mut sources: Vec<(Source, Map<String, Value>)> = Vec::new();
        for layer in self.layers().iter().filter(|layer| !layer.value.is_empty()) {
            match sources.iter_mut().find(|(source, _)| *source == layer.source) {
                Some((_, settings)) => merge_objects(settings, &layer.value),
                None => sources.push((layer.source, layer.value.clone())),
            }
        }
        let sources = sources.into_iter().map(|(source, settings)| SettingsSource {
            source: source.as_str().to_owned(),
            settings: Value::Object(settings).into(),
            ..SettingsSource::default()
        });
        GetSettingsResponse {
            effective: RawJson::from(Value::Object(self.effective().clone())),
            sources: sources.collect(),
            applied: Some(applied),
            ..GetSettingsResponse::default()
        }
    }
}
