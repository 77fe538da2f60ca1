//! Control request that switches the model.

use std::sync::Arc;

use bowline_protocol::{Content, SetModel, SetModelResponse, UserMessage};

use super::{ControlError, ControlReply, ControlResult};
use crate::{
    clock::timestamp,
    model_switch::{self, SwitchRefused},
    session_context::SessionContext,
};

pub(super) async fn set_model(context: &Arc<SessionContext>, request: SetModel) -> ControlResult {
    let requested = request.model.into_option().filter(|name| name != "default");
    if requested.as_deref().is_some_and(|name| name.trim().is_empty()) {
        let error = ControlError::coded("set_model: a model must have a name", "catalog_unknown");
        return Err(error.with("model", context.models.name()));
    }
    let before = context.models.name();
    let resolved = model_switch::switch(context, requested.as_deref(), "sdk").await?;
    let response =
        SetModelResponse { model: Some(resolved.clone()), ..SetModelResponse::default() };
    // Before the first turn there is no conversation in which to show the switch.
    let has_begun = !context.prompt.turn_id().is_empty() || context.config.resumed.is_some();
    if resolved == before || !has_begun {
        return Ok(ControlReply::payload(&response));
    }
    let shown = match requested {
        Some(requested) if requested != resolved => format!("{requested} ({resolved})"),
        _ => resolved.clone(),
    };
    let text = format!("<local-command-stdout>Set model to `{shown}`</local-command-stdout>");
    let mut message = UserMessage::prompt(Content::from(text));
    message.is_replay = Some(true);
    message.timestamp = Some(timestamp());
    context.sink.send(message).await;
    Ok(ControlReply::payload(&response))
}

impl From<SwitchRefused> for ControlError {
    fn from(refused: SwitchRefused) -> Self {
        Self::coded(refused.message, "blocked_by_hook").with("model", refused.current)
    }
}
