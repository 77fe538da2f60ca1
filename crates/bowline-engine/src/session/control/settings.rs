//! Settings: what they are, and changing them while the session runs.

use std::sync::Arc;

use bowline_protocol::{
    AppliedSettings, ApplyFlagSettings, Extra, InformationalLevel, ListPermissionRulesResponse,
    Maybe, UpdateSettings,
};
use serde_json::json;

use super::{Answered, ControlError, ControlReply};
use crate::{
    live_settings,
    session_context::SessionContext,
    settings::{NO_SANDBOX, Source},
};

pub(super) fn get_settings(shared: &Arc<SessionContext>) -> Answered {
    let permissions = shared.settings.lock().known().permissions.clone();
    let blocks = |blocked: Option<bool>| json!(blocked == Some(true));
    let applied = AppliedSettings {
        model: shared.models.name(),
        effort: shared.models.effort_level().map_or(Maybe::Null, Maybe::Value),
        extra: Extra::from_iter([
            (
                "outsideFileToolReadsBlocked".to_owned(),
                blocks(permissions.block_reads_outside_working_directories),
            ),
            (
                "outsideFileToolWritesBlocked".to_owned(),
                blocks(permissions.block_writes_outside_working_directories),
            ),
        ]),
    };
    Ok(ControlReply::payload(&shared.settings.lock().payload(applied)))
}

/// All of it is checked before any of it counts.
pub(super) async fn apply_flag_settings(
    shared: &Arc<SessionContext>,
    request: ApplyFlagSettings,
) -> Answered {
    let before = shared.settings.get();
    let applied = shared.settings.lock().apply_flag_settings(&request.settings);
    applied.map_err(|error| ControlError::new(error.to_string()))?;
    shared.watch.apply_source(Source::Flag, &before);
    live_settings::apply_changes(shared, &before);
    let wishes = shared.settings.lock().sandbox_wish().is_some();
    if wishes && before.sandbox_wish().is_none() {
        shared.sink.inform(InformationalLevel::Warning, NO_SANDBOX.to_owned()).await;
    }
    Ok(ControlReply::ack())
}

/// What is kept counts for sessions to come; of it, this one takes over the style alone.
pub(super) fn update_settings(shared: &Arc<SessionContext>, request: UpdateSettings) -> Answered {
    let before = shared.settings.lock().known().output_style.clone();
    let places = &shared.config.places;
    let written = shared.settings.lock().update(places, &request);
    written.map_err(|error| ControlError::new(error.to_string()))?;
    for file in [places.user_file(), places.local_file()] {
        shared.watch.note_settings_file(&file);
    }
    live_settings::apply_style(shared, before.as_deref());
    Ok(ControlReply::payload(&json!({})))
}

pub(super) fn get_hooks_listing(shared: &Arc<SessionContext>) -> Answered {
    Ok(ControlReply::payload(&shared.hooks.registry().listing()))
}

pub(super) fn list_permission_rules(shared: &Arc<SessionContext>) -> Answered {
    let state = shared.permissions.policy().list();
    let unsent = ListPermissionRulesResponse::default();
    Ok(ControlReply::payload(&ListPermissionRulesResponse { state, ..unsent }))
}
