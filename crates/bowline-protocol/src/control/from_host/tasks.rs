//! Requests about background tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{TaskId, ToolUseId},
};

/// Stops a background task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StopTask {
    /// The task.
    pub task_id: TaskId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Moves running calls to the background.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundTasks {
    /// The call; all of them if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Result by call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundTasksResponse {
    /// Whether the call goes on in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backgrounded: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Request for the output of a background task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetTaskOutput {
    /// The task.
    pub task_id: TaskId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a background task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskOutputResponse {
    /// The text, perhaps only the end of it.
    pub output: String,
    /// Total length.
    pub total_bytes: u64,
    /// Whether there is more.
    pub truncated: bool,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
