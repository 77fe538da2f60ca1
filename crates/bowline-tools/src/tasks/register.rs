//! Tasks run outside this crate: the engine's subagents.

use std::{path::PathBuf, sync::Arc, time::SystemTime};

use bowline_protocol::{TaskId, ToolUseId};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Entry, Output, TaskInfo, TaskKind, TaskStatus, TaskTable, Tasks};

/// A task that its registrant runs.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Names it; chosen here if empty.
    pub id: Option<TaskId>,
    /// What kind of work it is.
    pub kind: TaskKind,
    /// What it does, for people.
    pub description: String,
    /// Its prompt.
    pub prompt: Option<String>,
    /// The call that started it.
    pub tool_use_id: Option<ToolUseId>,
    /// Whether the conversation goes on meanwhile.
    pub backgrounded: bool,
    /// Where its output is written, if it has a file.
    pub output_file: Option<PathBuf>,
    /// Fires when the task is to stop.
    pub stop: CancellationToken,
}

impl Tasks {
    /// Registers a task that the caller runs. It is announced at once.
    pub fn register(&self, task: NewTask) -> TaskHandle {
        let id = task.id.unwrap_or_else(|| TaskTable::new_id(task.kind));
        let detach = CancellationToken::new();
        self.shared.insert(Entry {
            info: TaskInfo {
                id: id.clone(),
                kind: task.kind,
                status: TaskStatus::Running,
                description: task.description,
                command: None,
                prompt: task.prompt,
                result: None,
                tool_use_id: task.tool_use_id,
                backgrounded: task.backgrounded,
                output_file: task.output_file,
                exit_code: None,
                started: SystemTime::now(),
                ended: None,
            },
            announced: false,
            output: Output::Text(String::new()),
            stop: task.stop,
            detach: detach.clone(),
            ended: watch::Sender::new(false),
        });
        self.shared.announce(&id);
        TaskHandle { id, detach, shared: Arc::clone(&self.shared) }
    }

    /// Where the output file of a task of this id belongs.
    pub fn output_path(&self, id: &TaskId) -> PathBuf {
        self.shared.dir.join(format!("{id}.output"))
    }
}

/// Handle of the code that runs a registered task. Dropping it unfinished means that the task failed.
#[derive(Debug)]
pub struct TaskHandle {
    id: TaskId,
    detach: CancellationToken,
    shared: Arc<TaskTable>,
}

impl TaskHandle {
    /// The task's id.
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// Fires when the task is to move to the background.
    pub fn detach_requested(&self) -> &CancellationToken {
        &self.detach
    }

    /// Replaces the output that others can read.
    pub fn set_output(&self, text: impl Into<String>) {
        if let Some(entry) = self.shared.entries.lock().get_mut(&self.id) {
            entry.output = Output::Text(text.into());
        }
    }

    /// The conversation goes on without it from now on.
    pub fn move_to_background(&self) {
        self.shared.set_backgrounded(&self.id, None);
    }

    /// Ends the task, perhaps with a result.
    pub fn finish(self, status: TaskStatus, result: Option<String>) {
        if let Some(entry) = self.shared.entries.lock().get_mut(&self.id) {
            entry.info.result = result;
        }
        self.shared.finish(&self.id, status, None);
    }
}

impl Drop for TaskHandle {
    fn drop(&mut self) {
        self.shared.finish(&self.id, TaskStatus::Failed, None);
    }
}
