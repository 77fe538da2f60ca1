//! Hook input about the end of turns, subagents, teammates and their tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extra::Extra;

/// The main agent is about to finish.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StopInput {
    /// Whether the turn continues only because a hook of this event requested it.
    pub stop_hook_active: bool,
    /// The last text of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_assistant_message: Option<String>,
    /// Background tasks that still run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_tasks: Option<Vec<RunningTask>>,
    /// Prompts that are scheduled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_crons: Option<Vec<SessionCron>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A turn ended on an error of the model's API.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StopFailureInput {
    /// The kind of error.
    pub error: String,
    /// Error text of the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_details: Option<String>,
    /// The last text of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_assistant_message: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A subagent starts. Which one is in the [`HookBase`](super::HookBase).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentStartInput {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A subagent is about to finish. Which one is in the [`HookBase`](super::HookBase).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentStopInput {
    /// Whether it continues only because a hook of this event requested it.
    pub stop_hook_active: bool,
    /// Path of its transcript.
    pub agent_transcript_path: String,
    /// Its last text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_assistant_message: Option<String>,
    /// Background tasks that still run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_tasks: Option<Vec<RunningTask>>,
    /// Prompts that are scheduled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_crons: Option<Vec<SessionCron>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A background task that still runs. Long texts are clipped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunningTask {
    /// The task.
    pub id: String,
    /// Its kind.
    pub r#type: String,
    /// Status.
    pub status: String,
    /// Description.
    pub description: String,
    /// The command of a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The kind of a subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// The MCP server of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tool of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The name it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A prompt that is scheduled.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCron {
    /// The schedule.
    pub id: String,
    /// When, in cron's notation.
    pub schedule: String,
    /// Whether it comes again.
    pub recurring: bool,
    /// The prompt.
    pub prompt: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A teammate has nothing to do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TeammateIdleInput {
    /// The teammate.
    pub teammate_name: String,
    /// Its team.
    pub team_name: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An item of the task list was created or completed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskInput {
    /// The item.
    pub task_id: String,
    /// Its title.
    pub task_subject: String,
    /// Description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_description: Option<String>,
    /// Owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teammate_name: Option<String>,
    /// Their team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
