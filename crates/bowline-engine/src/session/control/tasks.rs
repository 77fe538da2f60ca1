//! Control requests about background tasks.

use std::{sync::Arc, time::Duration};

use bowline_protocol::{
    BackgroundTasks, BackgroundTasksResponse, GetTaskOutput, StopTask, TaskOutputResponse,
};
use serde_json::json;

use super::{Answered, ControlError, ControlReply};
use crate::session_context::SessionContext;

/// How long a command may take to notice that it is to go on in the background.
const MOVE_GRACE: Duration = Duration::from_secs(2);

/// A task that is gone, or never was, is as stopped as one can be.
pub(super) async fn stop_task(context: &Arc<SessionContext>, request: StopTask) -> Answered {
    let answered = context.tasks.stop_until_answered(&request.task_id);
    if let Err(error) = context.workspace.tasks().stop(&request.task_id).await {
        tracing::debug!(%error, "nothing to stop");
    }
    context.sink.flush().await;
    Ok(ControlReply::payload(&json!({})).then(async move { drop(answered) }))
}

pub(super) async fn background_tasks(
    context: &Arc<SessionContext>,
    request: BackgroundTasks,
) -> Answered {
    let mut moves = context.tasks.moves();
    let before = *moves.borrow_and_update();
    let call = request.tool_use_id.as_ref();
    let asked = context.workspace.tasks().move_to_background(call);
    if asked > 0 {
        // A command that ends at this moment moves nowhere, so there is a limit.
        let moved = moves.wait_for(|moves| *moves >= before + asked);
        tokio::time::timeout(MOVE_GRACE, moved).await.ok();
        context.sink.flush().await;
    }
    Ok(ControlReply::payload(&BackgroundTasksResponse {
        backgrounded: call.map(|_| asked > 0),
        ..BackgroundTasksResponse::default()
    }))
}

pub(super) fn get_task_output(context: &Arc<SessionContext>, request: GetTaskOutput) -> Answered {
    let output = context.workspace.tasks().output(&request.task_id);
    let output = output.map_err(|error| ControlError::new(format!("get_task_output: {error}")))?;
    Ok(ControlReply::payload(&TaskOutputResponse {
        output: output.text,
        total_bytes: output.total_bytes,
        truncated: output.truncated,
        ..TaskOutputResponse::default()
    }))
}
