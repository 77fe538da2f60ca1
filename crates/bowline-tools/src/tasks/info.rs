//! State of a task, and the events that report its changes.

use std::{path::PathBuf, time::SystemTime};

use bowline_protocol::{TaskId, ToolUseId};

/// What is known about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskInfo {
    /// Names it.
    pub id: TaskId,
    /// What kind of work it is.
    pub kind: TaskKind,
    /// How it stands.
    pub status: TaskStatus,
    /// What it does, for people.
    pub description: String,
    /// The shell command, if it is one.
    pub command: Option<String>,
    /// The prompt of a subagent.
    pub prompt: Option<String>,
    /// The final response of a subagent.
    pub result: Option<String>,
    /// The call that started it.
    pub tool_use_id: Option<ToolUseId>,
    /// Whether the conversation goes on meanwhile.
    pub backgrounded: bool,
    /// Where its output can be read, if it has a file.
    pub output_file: Option<PathBuf>,
    /// How its command ended, if it ended by itself.
    pub exit_code: Option<i32>,
    /// When it started.
    pub started: SystemTime,
    /// When it ended.
    pub ended: Option<SystemTime>,
}

impl TaskInfo {
    /// One sentence on how it ended.
    pub fn summary(&self) -> String {
        let description = &self.description;
        match (self.kind, self.status, self.exit_code) {
            (TaskKind::Command, TaskStatus::Completed, Some(code)) if self.backgrounded => {
                format!("Background command \"{description}\" completed (exit code {code})")
            }
            (TaskKind::Command, TaskStatus::Failed, Some(code)) if self.backgrounded => {
                format!("Background command \"{description}\" failed with exit code {code}")
            }
            _ => description.clone(),
        }
    }
}

/// What kind of work a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskKind {
    /// A shell command.
    Command,
    /// A subagent.
    Agent,
}

impl TaskKind {
    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "local_bash",
            Self::Agent => "local_agent",
        }
    }

    /// The first letter of ids of this kind.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Command => 'b',
            Self::Agent => 'a',
        }
    }
}

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskStatus {
    /// Still at work.
    Running,
    /// Ended well.
    Completed,
    /// Ended badly by itself.
    Failed,
    /// Was stopped.
    Killed,
}

impl TaskStatus {
    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }
}

/// Something that happened to a task. Every `Started` is followed by exactly one `Finished`,
/// unless the workspace goes away first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskEvent {
    /// It is at work. Short foreground commands are never announced.
    Started(TaskInfo),
    /// It moved to the background.
    Backgrounded(TaskInfo),
    /// It ended with its status.
    Finished(TaskInfo),
}

/// Hears of tasks. Called in order and in passing: it must return quickly and not call back.
pub trait TaskObserver: Send + Sync + 'static {
    /// Something happened to a task.
    fn task_event(&self, event: TaskEvent);
}

impl<F: Fn(TaskEvent) + Send + Sync + 'static> TaskObserver for F {
    fn task_event(&self, event: TaskEvent) {
        self(event);
    }
}

/// There is no task with this id, or none that still runs where that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoSuchTask(pub TaskId);

impl std::fmt::Display for NoSuchTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "No task found with ID: {}", self.0)
    }
}

impl std::error::Error for NoSuchTask {}

/// What a task has put out so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskOutput {
    /// The task, as it stood when its output was read.
    pub info: TaskInfo,
    /// The output, or its end if it is long.
    pub text: String,
    /// How many bytes there are in all.
    pub total_bytes: u64,
    /// Whether `text` is only the end.
    pub truncated: bool,
}
