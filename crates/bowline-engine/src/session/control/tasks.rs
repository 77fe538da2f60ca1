//! Control requests about background tasks.

use std::{sync::Arc, time::Duration};

use bowline_protocol::{
    BackgroundTasks, BackgroundTasksResponse, GetTaskOutput, StopTask, TaskOutputResponse,
};
use serde_json::json;

use super::{ControlError, ControlReply, ControlResult};
use crate::session_context::SessionContext;

/// How long a command may take to move to the background.
const MOVE_GRACE: Duration = Duration::from_secs(2);

/// Stopping an unknown or ended task succeeds: the request is idempotent.
pub(super) async fn stop_task(context: &Arc<SessionContext>, request: StopTask) -> ControlResult {
    let guard = context.tasks.stop_until_answered(&request.task_id);
    if let Err(error) = context.workspace.tasks().stop(&request.task_id).await {
        tracing::debug!(%error, "nothing to stop");
    }
    context.sink.flush().await;
    Ok(ControlReply::payload(&json!({})).then(async move { drop(guard) }))
}

pub(super) async fn background_tasks(
    context: &Arc<SessionContext>,
    request: BackgroundTasks,
) -> ControlResult {
    let mut moves = context.tasks.moves();
    let before = *moves.borrow_and_update();
    let call = request.tool_use_id.as_ref();
    let requested = context.workspace.tasks().move_to_background(call);
    if requested > 0 {
        // A command that ends at this moment never moves, so the wait is bounded.
        let moved = moves.wait_for(|moves| *moves >= before + requested);
        tokio::time::timeout(MOVE_GRACE, moved).await.ok();
        context.sink.flush().await;
    }
    Ok(ControlReply::payload(&BackgroundTasksResponse {
        backgrounded: call.map(|_| requested > 0),
        ..BackgroundTasksResponse::default()
    }))
}

pub(super) fn get_task_output(
    context: &Arc<SessionContext>,
    request: GetTaskOutput,
) -> ControlResult {
    let output = context.workspace.tasks().output(&request.task_id);
    let output = output.map_err(|error| ControlError::new(format!("get_task_output: {error}")))?;
    Ok(ControlReply::payload(&TaskOutputResponse {
        output: output.text,
        total_bytes: output.total_bytes,
        truncated: output.truncated,
        ..TaskOutputResponse::default()
    }))
}
