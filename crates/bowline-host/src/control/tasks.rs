//! Single pieces of work: calls, and tasks in the background.

use bowline_protocol::{
    BackgroundTasks, BackgroundTasksResponse, GetTaskOutput, StopTask, TaskId, TaskOutputResponse,
    ToolUseId,
};

use crate::{Client, Error};

impl Client {
    /// Stops one call of a tool of this program, and nothing else: its handler is dropped, and the model
    /// reads `why` instead of a result. Returns whether the call ran.
    ///
    /// The protocol has no request for it, so it is for our own tools only; over any transport. Of the
    /// agent's tools, a command or subagent can be [put into the background](Self::background_call)
    /// and [stopped](Self::stop_task) there.
    pub fn cancel_tool_call(&self, call: impl Into<ToolUseId>, why: impl Into<String>) -> bool {
        self.connection.responder.servers.stop(&call.into(), why.into())
    }

    /// Stops a background task.
    pub async fn stop_task(&self, task: impl Into<TaskId>) -> Result<(), Error> {
        self.request(StopTask { task_id: task.into(), ..StopTask::default() }).await.map(|_| ())
    }

    /// Moves everything that runs into the background.
    pub async fn background_tasks(&self) -> Result<BackgroundTasksResponse, Error> {
        self.request(BackgroundTasks::default()).await
    }

    /// Moves one call into the background.
    pub async fn background_call(
        &self,
        call: impl Into<ToolUseId>,
    ) -> Result<BackgroundTasksResponse, Error> {
        let tool_use_id = Some(call.into());
        self.request(BackgroundTasks { tool_use_id, ..BackgroundTasks::default() }).await
    }

    /// What a background task has printed.
    pub async fn task_output(&self, task: impl Into<TaskId>) -> Result<TaskOutputResponse, Error> {
        self.request(GetTaskOutput { task_id: task.into(), ..GetTaskOutput::default() }).await
    }
}
