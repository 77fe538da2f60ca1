//! Settings that change while a session runs: the part that applies at once.

use std::path::PathBuf;

use bowline_protocol::Effort;
use serde_json::{Map, Value};

use crate::{
    session_context::SessionContext,
    settings::{Settings, SettingsError, Source},
};

/// Applies the differences to `before`, and nothing else: flags and requests may
/// have overridden the rest.
pub(crate) fn apply_changes(session: &SessionContext, before: &Settings) {
    let (thinking, after) = {
        let settings = session.settings.lock();
        (settings.thinking(), settings.known().clone())
    };
    let before = before.known();
    apply_style(session, before.output_style.as_deref());
    if before.model != after.model {
        let model = after.model.clone();
        session.models.select(model.unwrap_or_else(|| session.config.default_model.clone()));
    }
    if before.effort_level != after.effort_level {
        let wanted = after.effort_level.as_deref();
        session.models.set_effort(wanted.and_then(|level| level.parse::<Effort>().ok()));
    }
    let budget = (after.always_thinking_enabled, after.max_thinking_tokens);
    if (before.always_thinking_enabled, before.max_thinking_tokens) != budget {
        session.models.set_thinking(thinking);
    }
}

/// Applies the output style of the settings, if it is not that of `before`.
pub(crate) fn apply_style(session: &SessionContext, before: Option<&str>) {
    let style = session.settings.lock().known().output_style.clone();
    if style.as_deref() != before {
        session.output.set_style(style);
    }
}

/// Writes to a settings file, and applies the change.
pub(crate) fn edit(
    session: &SessionContext,
    source: Source,
    path: PathBuf,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Result<(), SettingsError> {
    let before = session.settings.get();
    session.settings.lock().edit(source, path.clone(), change)?;
    session.watch.note_settings_file(&path);
    apply_changes(session, &before);
    Ok(())
}
