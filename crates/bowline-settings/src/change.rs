//! Change of settings that a host sends: values to set, and `null` for keys to clear.

use bowline_protocol::RawJson;
use serde_json::{Map, Value};

use super::{Layer, Problem, SettingsError, Source};

/// A change that fits.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) given: Map<String, Value>,
    pub(super) cleared: Vec<String>,
}

impl Changes {
    /// Reads a change. If any value does not fit its key, the whole change is refused.
    pub(super) fn read(source: Source, settings: &RawJson) -> Result<Self, SettingsError> {
        let mut changes = Self::read_unchecked(source, settings)?;
        let mut problems = Vec::new();
        changes.given = Layer::new(source, None, changes.given, &mut problems).value;
        if problems.is_empty() { Ok(changes) } else { Err(SettingsError::BadValues(problems)) }
    }

    /// Reads a change, whatever its values are.
    pub(super) fn read_unchecked(
        source: Source,
        settings: &RawJson,
    ) -> Result<Self, SettingsError> {
        let Ok(all) = settings.parse::<Map<String, Value>>() else {
            let message = "expected an object".to_owned();
            let problem = Problem { source, path: None, position: None, key: None, message };
            return Err(SettingsError::BadValues(vec![problem]));
        };
        let mut changes = Self::default();
        for (key, value) in all {
            match value {
                Value::Null => changes.cleared.push(key),
                value => {
                    changes.given.insert(key, value);
                }
            }
        }
        Ok(changes)
    }
}
