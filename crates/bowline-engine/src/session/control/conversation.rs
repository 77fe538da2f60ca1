//! Opening the session, stopping it, and changing how it goes on.

use std::sync::Arc;

use bowline_model::Thinking;
use bowline_protocol::{
    Content, Initialize, Interrupt, InterruptResponse, SetMaxThinkingTokens, SetModel,
    SetModelResponse, SetPermissionMode, SetPermissionModeResponse, StatusMessage, UserMessage,
};

use super::{ControlError, ControlReply};
use crate::session::{Shared, catalog};

type Answered = Result<ControlReply, ControlError>;

/// The smallest thinking budget the API takes.
const SMALLEST_BUDGET: u64 = 1024;

pub(super) async fn initialize(shared: &Arc<Shared>, request: Initialize) -> Answered {
    // What hooks say at the start goes out before the answer.
    shared.started.cancelled().await;
    let again = std::mem::replace(&mut shared.live().host.initialized, true);
    let hooks_given = request.hooks.as_ref().is_some();
    if let Some(hooks) = request.hooks.as_ref() {
        shared.hooks.set_callbacks(hooks);
    }
    shared.take_up(request).await;
    let mut response = catalog::initialize_response(shared);
    if hooks_given || again {
        response.hooks_applied = Some(true);
        response.hook_on_failure_supported = Some(true);
    }
    let reply = ControlReply::payload(&response);
    let shared = Arc::clone(shared);
    Ok(match again {
        true => reply.then(async move { shared.board.announce() }),
        false => reply,
    })
}

pub(super) async fn interrupt(shared: &Arc<Shared>, request: Interrupt) -> Answered {
    let cancelled = match request.cancel_queued {
        Some(true) => Some(shared.queue().clear()),
        _ => None,
    };
    let response = InterruptResponse {
        still_queued: Some(shared.queue().uuids()),
        cancelled,
        ..InterruptResponse::default()
    };
    let shared = Arc::clone(shared);
    Ok(ControlReply::payload(&response).then(async move {
        shared.interrupt_turn();
        if !shared.live().host.stops_tasks_itself {
            shared.workspace.tasks().stop_all().await;
        }
    }))
}

pub(super) fn set_permission_mode(shared: &Arc<Shared>, request: SetPermissionMode) -> Answered {
    let changed = shared.policy().set_mode(request.mode);
    changed.map_err(|error| ControlError::coded(error.to_string(), error.code()))?;
    let mode = shared.mode();
    let response =
        SetPermissionModeResponse { mode: mode.clone(), ..SetPermissionModeResponse::default() };
    let shared = Arc::clone(shared);
    Ok(ControlReply::payload(&response).then(async move {
        let permission_mode = Some(mode);
        shared.outlet.send(StatusMessage { permission_mode, ..StatusMessage::default() }).await;
    }))
}

pub(super) async fn set_model(shared: &Arc<Shared>, request: SetModel) -> Answered {
    let asked = request.model.into_option().filter(|name| name != "default");
    let name = asked.unwrap_or_else(|| bowline_model::DEFAULT_MODEL.to_owned());
    let connected = shared.config.models.connect(&name);
    let resolved = connected.map_or_else(|_| name.clone(), |connected| connected.name);
    shared.switch_model(&name, &resolved).await?;
    let text = format!("<local-command-stdout>Set model to {resolved}</local-command-stdout>");
    let mut said = UserMessage::prompt(Content::from(text));
    said.is_replay = Some(true);
    shared.outlet.send(said).await;
    let response = SetModelResponse { model: Some(resolved), ..SetModelResponse::default() };
    Ok(ControlReply::payload(&response))
}

pub(super) fn set_max_thinking_tokens(
    shared: &Arc<Shared>,
    request: SetMaxThinkingTokens,
) -> Answered {
    let thinking = match request.max_thinking_tokens.into_option() {
        None => None,
        Some(0) => Some(Thinking::Disabled),
        Some(budget) => {
            Some(Thinking::Enabled { budget_tokens: budget.max(SMALLEST_BUDGET), display: None })
        }
    };
    shared.live().thinking = thinking;
    Ok(ControlReply::ack())
}
