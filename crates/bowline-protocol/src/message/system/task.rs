//! Background tasks: subagents, shells and other work that runs beside the turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{MessageUuid, SessionId, TaskId, ToolUseId},
    raw::RawJson,
    wire::open_enum,
};

/// A task begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskStartedMessage {
    /// The task.
    pub task_id: TaskId,
    /// This run of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// Description.
    pub description: String,
    /// Of a subagent: what kind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// Whether the turn goes on without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_backgrounded: Option<bool>,
    /// Of a subagent: how deep it is nested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spawn_depth: Option<u64>,
    /// The task that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
    /// Kind of task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<TaskType>,
    /// Of a workflow: its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow_name: Option<String>,
    /// Of a subagent: its prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Not worth showing in the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_transcript: Option<bool>,
    /// Runs for the agent's own purposes, not for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambient: Option<bool>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Kind of task.
    TaskType {
        /// A subagent.
        LocalAgent = "local_agent",
        /// A shell command.
        LocalBash = "local_bash",
        /// A workflow.
        LocalWorkflow = "local_workflow",
        /// A task of an MCP server.
        McpTask = "mcp_task",
    }
}

/// Progress of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskProgressMessage {
    /// The task.
    pub task_id: TaskId,
    /// This run of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// Current activity.
    pub description: String,
    /// Of a subagent: what kind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// Usage so far.
    pub usage: TaskUsage,
    /// The tool it used last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tool_name: Option<String>,
    /// Summary so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Usage of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskUsage {
    /// Tokens.
    pub total_tokens: u64,
    /// Tool calls.
    pub tool_uses: u64,
    /// Time.
    pub duration_ms: u64,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Something about a task changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskUpdatedMessage {
    /// The task.
    pub task_id: TaskId,
    /// This run of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Changed fields.
    pub patch: TaskPatch,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Changed fields of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskPatch {
    /// State.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it ended (milliseconds since 1970).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<u64>,
    /// Total time paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_paused_ms: Option<u64>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the turn goes on without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_backgrounded: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// State of a task.
    TaskStatus {
        /// It waits.
        Pending = "pending",
        /// It runs.
        Running = "running",
        /// It is done.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was ended.
        Killed = "killed",
        /// It is paused.
        Paused = "paused",
    }
}

/// A task has ended; the model is notified.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskNotificationMessage {
    /// The task.
    pub task_id: TaskId,
    /// This run of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// Outcome.
    pub status: TaskOutcome,
    /// Reason of the stop, as in `worker_restart`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Path of its output; may be empty.
    pub output_file: String,
    /// Summary.
    pub summary: String,
    /// Usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TaskUsage>,
    /// Its output file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_links: Option<Vec<RawJson>>,
    /// Not worth showing in the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_transcript: Option<bool>,
    /// Ran for the agent's own purposes, not for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambient: Option<bool>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Outcome of a task.
    #[derive(Default)]
    TaskOutcome {
        /// It is done.
        #[default]
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was ended; elsewhere this is `killed`.
        Stopped = "stopped",
    }
}

/// The list of background tasks changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundTasksChangedMessage {
    /// All that run now.
    pub tasks: Vec<BackgroundTask>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A task that runs in the background.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundTask {
    /// The task.
    pub task_id: TaskId,
    /// This run of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Kind of task.
    pub task_type: TaskType,
    /// Of a subagent: what kind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// Description.
    pub description: String,
    /// The task that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
    /// Runs for the agent's own purposes, not for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambient: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Summary of a task. No agent has been seen to send it; all of it is in `extra`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSummaryMessage {
    /// Names this frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<MessageUuid>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
