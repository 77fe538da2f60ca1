//! Control requests about settings, hooks and permission rules.

use std::sync::Arc;

use bowline_protocol::{
    AppliedSettings, ApplyFlagSettings, Extra, InformationalLevel, ListPermissionRulesResponse,
    Maybe, UpdateSettings,
};
use serde_json::json;

use super::{ControlError, ControlReply, ControlResult};
use crate::{
    live_settings,
    session_context::SessionContext,
    settings::{NO_SANDBOX, Source},
};

pub(super) fn get_settings(context: &Arc<SessionContext>) -> ControlResult {
    let permissions = context.settings.lock().known().permissions.clone();
    let blocks = |blocked: Option<bool>| json!(blocked == Some(true));
    let applied = AppliedSettings {
        model: context.models.name(),
        effort: context.models.effort_level().map_or(Maybe::Null, Maybe::Value),
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
    Ok(ControlReply::payload(&context.settings.lock().payload(applied)))
}

/// All settings are checked before any is applied.
pub(super) async fn apply_flag_settings(
    context: &Arc<SessionContext>,
    request: ApplyFlagSettings,
) -> ControlResult {
    let before = context.settings.get();
    let applied = context.settings.lock().apply_flag_settings(&request.settings);
    applied.map_err(|error| ControlError::new(error.to_string()))?;
    context.watch.apply_source(Source::Flag, &before);
    live_settings::apply_changes(context, &before);
    let wishes = context.settings.lock().sandbox_wish().is_some();
    if wishes && before.sandbox_wish().is_none() {
        context.sink.inform(InformationalLevel::Warning, NO_SANDBOX.to_owned()).await;
    }
    Ok(ControlReply::ack())
}

/// Applies to later sessions; this one applies the style alone.
pub(super) fn update_settings(
    context: &Arc<SessionContext>,
    request: UpdateSettings,
) -> ControlResult {
    let before = context.settings.lock().known().output_style.clone();
    let places = &context.config.places;
    let written = context.settings.lock().update(places, &request);
    written.map_err(|error| ControlError::new(error.to_string()))?;
    for file in [places.user_file(), places.local_file()] {
        context.watch.note_settings_file(&file);
    }
    live_settings::apply_style(context, before.as_deref());
    Ok(ControlReply::payload(&json!({})))
}

pub(super) fn get_hooks_listing(context: &Arc<SessionContext>) -> ControlResult {
    Ok(ControlReply::payload(&context.hooks.registry().listing()))
}

pub(super) fn list_permission_rules(context: &Arc<SessionContext>) -> ControlResult {
    let state = context.permissions.policy().list();
    let unsent = ListPermissionRulesResponse::default();
    Ok(ControlReply::payload(&ListPermissionRulesResponse { state, ..unsent }))
}
