//! Format of the session's output: output style and JSON schema of results.

use parking_lot::Mutex;
use serde_json::Value;

use crate::{config::SessionConfig, instructions::style};

/// Output style and JSON schema of the session's responses.
#[derive(Debug)]
pub(crate) struct OutputFormat {
    style: Mutex<String>,
    /// The schema of results.
    schema: Mutex<Option<Value>>,
}

impl OutputFormat {
    pub(crate) fn new(config: &SessionConfig) -> Self {
        let style = config.settings.known().output_style.clone();
        Self {
            style: Mutex::new(style.unwrap_or_else(|| style::DEFAULT.to_owned())),
            schema: Mutex::new(config.json_schema.clone()),
        }
    }

    /// The name of the output style.
    pub(crate) fn style(&self) -> String {
        self.style.lock().clone()
    }

    pub(crate) fn set_style(&self, style: Option<String>) {
        *self.style.lock() = style.unwrap_or_else(|| style::DEFAULT.to_owned());
    }

    pub(crate) fn schema(&self) -> Option<Value> {
        self.schema.lock().clone()
    }

    pub(crate) fn set_schema(&self, schema: Value) {
        *self.schema.lock() = Some(schema);
    }

    pub(crate) fn has_schema(&self) -> bool {
        self.schema.lock().is_some()
    }
}
