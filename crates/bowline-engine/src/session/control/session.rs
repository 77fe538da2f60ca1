//! Control requests about the session: interrupt, mode, title, working directory, end.

use std::{path::Path, sync::Arc};

use bowline_model::{Thinking, ThinkingDisplay};
use bowline_protocol::{
    CancelAsyncMessage, CancelAsyncMessageResponse, CommandState, Extra, Interrupt,
    InterruptResponse, RenameSession, SetCwd, SetCwdResponse, SetHasSubscribers,
    SetMaxThinkingTokens, SetPermissionMode, SetPermissionModeResponse, StatusMessage,
};
use bowline_sessions::ConfigHome;
use bowline_tools::{TaskInfo, TaskKind};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{ControlError, ControlReply, ControlResult};
use crate::{
    identity::Identity,
    permission::RuleSource,
    session::Session,
    session_context::SessionContext,
    settings::{SettingsPaths, Trust, expand_home},
    sink::lifecycle,
    state::SessionTitle,
};

/// The smallest thinking budget the API takes.
const SMALLEST_BUDGET: u64 = 1024;

pub(super) async fn interrupt(own: &Session, request: Interrupt) -> ControlResult {
    // Prompts that were sent before the interrupt must be in the queue first.
    own.prompts_queued().await;
    let context = &own.context;
    let cancelled = match request.cancel_queued {
        Some(true) => Some(context.queue.clear()),
        _ => None,
    };
    for uuid in cancelled.iter().flatten() {
        context.sink.send(lifecycle(uuid.clone(), CommandState::Cancelled)).await;
    }
    let response = InterruptResponse {
        still_queued: Some(context.queue.uuids()),
        cancelled,
        ..InterruptResponse::default()
    };
    let acknowledged = context.turn.interrupt_until_acknowledged();
    // The requests of the turn are cancelled before its host receives the response.
    tokio::task::yield_now().await;
    let context = Arc::clone(context);
    Ok(ControlReply::payload(&response).then(async move {
        drop(acknowledged);
        if !context.host.read(|host| host.stops_tasks_itself) {
            // Background commands continue: the user did not wait for them.
            context.tasks.interrupted();
            let stops = |task: &TaskInfo| !task.backgrounded || task.kind == TaskKind::Agent;
            context.workspace.tasks().stop_those(stops).await;
        }
    }))
}

pub(super) fn set_permission_mode(
    context: &Arc<SessionContext>,
    request: SetPermissionMode,
) -> ControlResult {
    let before = context.permissions.mode();
    let changed = context.permissions.policy().set_mode(request.mode);
    changed.map_err(|error| ControlError::coded(error.to_string(), error.code()))?;
    let mode = context.permissions.mode();
    let response =
        SetPermissionModeResponse { mode: mode.clone(), ..SetPermissionModeResponse::default() };
    let reply = ControlReply::payload(&response);
    if mode == before {
        return Ok(reply);
    }
    let context = Arc::clone(context);
    Ok(reply.then(async move {
        let permission_mode = Some(mode);
        context.sink.send(StatusMessage { permission_mode, ..StatusMessage::default() }).await;
    }))
}

pub(super) fn set_max_thinking_tokens(
    context: &Arc<SessionContext>,
    request: SetMaxThinkingTokens,
) -> ControlResult {
    let display = match request.thinking_display.as_ref().map(String::as_str) {
        Some("summarized") => Some(ThinkingDisplay::Summarized),
        Some("omitted") => Some(ThinkingDisplay::Omitted),
        None | Some("highlights") => None,
        Some(other) => {
            let error = format!(
                "set_max_thinking_tokens: thinking_display is summarized, omitted, highlights or null, \
                 not {other}"
            );
            return Err(ControlError::new(error));
        }
    };
    let thinking = match request.max_thinking_tokens.into_option() {
        None => display.map(|display| Thinking::Adaptive { display: Some(display) }),
        Some(..=0) => Some(Thinking::Disabled),
        Some(budget) => {
            let budget_tokens = budget.unsigned_abs().max(SMALLEST_BUDGET);
            Some(Thinking::Enabled { budget_tokens, display })
        }
    };
    context.models.set_thinking(thinking);
    Ok(ControlReply::ack())
}

pub(super) async fn rename_session(
    context: &Arc<SessionContext>,
    request: RenameSession,
) -> ControlResult {
    let Some(title) = SessionTitle::clean(&request.title) else {
        return Err(ControlError::new("title must be non-empty"));
    };
    if let Some(other) = request.session_id.filter(|id| *id != context.sink.session_id()) {
        let home = ConfigHome::new(&context.config.places.config_dir);
        bowline_sessions::rename(&home, &other, None, &title)
            .map_err(|error| ControlError::new(error.to_string()))?;
        return Ok(ControlReply::ack());
    }
    context.title.set(&title).await;
    Ok(ControlReply::ack())
}

pub(super) fn set_has_subscribers(
    context: &Arc<SessionContext>,
    request: SetHasSubscribers,
) -> ControlResult {
    if request.has_subscribers.is_absent() {
        return Err(ControlError::new("set_has_subscribers: has_subscribers is missing"));
    }
    let has_subscribers = request.has_subscribers.into_option();
    context.host.update(|host| host.has_subscribers = has_subscribers);
    Ok(ControlReply::ack())
}

/// Changes the working directory between turns. The transcript stays where it is.
pub(super) async fn set_cwd(context: &Arc<SessionContext>, request: SetCwd) -> ControlResult {
    if request.path.is_empty() {
        let why = "set_cwd: invalid request — path must be a non-empty string";
        return Err(ControlError::new(why));
    }
    let path = expand_home(&request.path, context.permissions.policy().home());
    let directory = context.workspace.resolve(&path.to_string_lossy());
    if let Some((reason, message)) = objection_to(context, &directory) {
        let refused = json!({"status": "rejected", "reason": reason, "message": message});
        return Ok(ControlReply::payload(&refused));
    }
    let before = context.workspace.current_dir();
    let changed = before != directory;
    if changed && !trusts(context, &directory, &request) {
        let refused = json!({"status": "needs_trust", "directory": directory});
        return Ok(ControlReply::payload(&refused));
    }
    if changed {
        context.permissions.policy().add_directory(RuleSource::Session, &directory);
        context.workspace.set_added_roots(context.permissions.added_directories());
        context.workspace.set_current_dir(&directory);
        let never = CancellationToken::new();
        context.watch.directory_changed(&Identity::Main, &context.workspace, &before, &never).await;
    }
    Ok(ControlReply::payload(&SetCwdResponse {
        status: "ok".to_owned(),
        cwd: directory.display().to_string(),
        changed,
        // Transcripts stay in the folder of the first directory.
        transcript_relocated: !changed,
        extra: Extra::new(),
    }))
}

/// Why the session cannot work in a directory now: a code, and a message for people.
fn objection_to(context: &SessionContext, directory: &Path) -> Option<(&'static str, String)> {
    let shown = directory.display();
    if context.turn.is_busy() {
        let message = "A turn runs. The working directory can change once it has ended.";
        Some(("busy", message.to_owned()))
    } else if !directory.exists() {
        Some(("not_found", format!("Couldn't find a directory at {shown}.")))
    } else if !directory.is_dir() {
        Some(("not_a_directory", format!("{shown} is not a directory.")))
    } else {
        None
    }
}

/// Whether the user trusts a directory, or confirms it with this request.
fn trusts(context: &SessionContext, directory: &Path, request: &SetCwd) -> bool {
    let named = request.trusted_directory.as_deref().map(Path::new);
    let accepted = request.trust_accepted == Some(true);
    let places = SettingsPaths { project: directory.to_owned(), ..context.config.places.clone() };
    accepted && named.is_none_or(|named| named == directory)
        || Trust::recorded(&places) == Trust::Trusted
}

pub(super) fn end_session(session: &Session) -> ControlResult {
    let session = session.clone();
    Ok(ControlReply::ack().then(async move { session.shutdown() }))
}

pub(super) async fn cancel_async_message(
    own: &Session,
    request: CancelAsyncMessage,
) -> ControlResult {
    own.prompts_queued().await;
    let context = &own.context;
    let cancelled = context.queue.cancel(&request.message_uuid);
    if cancelled {
        let frame = lifecycle(request.message_uuid, CommandState::Cancelled);
        context.sink.send(frame).await;
    }
    let unsent = CancelAsyncMessageResponse::default();
    Ok(ControlReply::payload(&CancelAsyncMessageResponse { cancelled, ..unsent }))
}
