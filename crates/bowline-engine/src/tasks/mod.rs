//! Board of background tasks: running tasks, their ends, and the messages about them.

mod agent_count;
mod notice;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use bowline_protocol::{
    BackgroundTask, BackgroundTasksChangedMessage, Extra, SubagentStats, TaskId,
    TaskNotificationMessage, TaskOutcome, TaskPatch, TaskStartedMessage, TaskUpdatedMessage,
    TaskUsage, ToolUseId, UserMessage,
};
use bowline_tools::{TaskEvent, TaskInfo, TaskKind, TaskObserver, TaskStatus};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use self::agent_count::StoppedBy;
use crate::{
    clock::{millis, since_epoch},
    sink::MessageSink,
};

/// The maximum number of concurrent agents in a session.
pub(crate) const AGENTS_AT_ONCE: usize = 16;

/// The tasks of a session that were announced to the host.
#[derive(Clone)]
pub(crate) struct TaskBoard {
    sink: Arc<MessageSink>,
    tasks: Arc<Mutex<Board>>,
    /// Fires when a background task has ended.
    pub(crate) ended: Arc<Notify>,
    /// The number of tasks that were started in or moved to the background.
    moved: Arc<watch::Sender<usize>>,
    /// One permit for each agent that may still start.
    slots: Arc<Semaphore>,
}

/// The concurrency slot of an agent, released when it is dropped.
#[derive(Debug)]
pub(crate) struct AgentSlot(
    #[expect(dead_code, reason = "it is held, not looked at")] OwnedSemaphorePermit,
);

#[derive(Default)]
struct Board {
    running: BTreeMap<TaskId, BackgroundTaskEntry>,
    /// Notices for the model about tasks that have ended.
    notices: Vec<UserMessage>,
    /// Subagents that were stopped and have not ended yet.
    stopped: BTreeMap<TaskId, StoppedAgent>,
    agents: SubagentStats,
    /// Whether the session ends, so that nothing is reported any more.
    closed: bool,
}

struct BackgroundTaskEntry {
    run_id: String,
    kind: TaskKind,
    subagent_type: Option<String>,
    description: String,
    tool_use_id: Option<ToolUseId>,
    backgrounded: bool,
    stopped_by: StoppedBy,
    /// Fires when the caller that stopped it has the response.
    answered: Option<CancellationToken>,
    /// The concurrency slot of a subagent.
    slot: Option<AgentSlot>,
}

/// A subagent that was stopped while it ran in the background.
#[derive(Default)]
struct StoppedAgent {
    /// The notice for the model; `None` if everything was stopped.
    notice: Option<UserMessage>,
    answered: Option<CancellationToken>,
}

/// A subagent that starts.
pub(crate) struct StartedAgent<'a> {
    pub(crate) id: &'a TaskId,
    pub(crate) slot: AgentSlot,
    pub(crate) kind: &'a str,
    pub(crate) description: &'a str,
    pub(crate) prompt: &'a str,
    pub(crate) tool_use_id: &'a ToolUseId,
    pub(crate) depth: u32,
    /// The subagent that starts it, if one does.
    pub(crate) parent: Option<TaskId>,
    pub(crate) backgrounded: bool,
    /// Whether the call that starts it requests the background; `None` if unspecified.
    pub(crate) asked_background: Option<bool>,
}

/// A worktree that is kept because it has changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptWorktree {
    pub(crate) path: PathBuf,
    pub(crate) branch: Option<String>,
}

/// The end of a task.
pub(crate) struct EndedTask {
    pub(crate) status: TaskStatus,
    pub(crate) summary: String,
    /// The error, if it is more than an exit code.
    pub(crate) error: Option<String>,
    pub(crate) output_file: String,
    pub(crate) usage: Option<TaskUsage>,
    /// The worktree, if something was changed in it.
    pub(crate) worktree: Option<KeptWorktree>,
}

impl TaskBoard {
    pub(crate) fn new(sink: Arc<MessageSink>) -> Self {
        Self {
            sink,
            tasks: Arc::default(),
            ended: Arc::default(),
            moved: Arc::default(),
            slots: Arc::new(Semaphore::new(AGENTS_AT_ONCE)),
        }
    }

    /// Whether a subagent runs in the background.
    pub(crate) fn has_background_agents(&self) -> bool {
        let background =
            |entry: &BackgroundTaskEntry| entry.backgrounded && entry.kind == TaskKind::Agent;
        self.board().running.values().any(background)
    }

    /// Acquires a slot for a subagent; `None`, which is counted, if all are in use.
    pub(crate) fn acquire_agent_slot(&self) -> Option<AgentSlot> {
        let slot = Arc::clone(&self.slots).try_acquire_owned().ok();
        if slot.is_none() {
            self.board().agents.refused.concurrency_limit += 1;
        }
        slot.map(AgentSlot)
    }

    /// The numbers of subagents, by how they started and ended.
    pub(crate) fn agent_count(&self) -> SubagentStats {
        self.board().agents.clone()
    }

    /// Stops a task for the user.
    pub(crate) fn stopped_by_user(&self, id: &TaskId) {
        if let Some(entry) = self.board().running.get_mut(id) {
            entry.stopped_by = StoppedBy::User;
        }
    }

    /// Stops a task for the host. The consequences are sent once the guard is dropped.
    pub(crate) fn stop_until_answered(&self, id: &TaskId) -> DropGuard {
        let answered = CancellationToken::new();
        if let Some(entry) = self.board().running.get_mut(id) {
            entry.stopped_by = StoppedBy::User;
            entry.answered = Some(answered.clone());
        }
        answered.drop_guard()
    }

    /// Notes that everything is stopped: the model gets no notice of each subagent.
    pub(crate) fn interrupted(&self) {
        for entry in self.board().running.values_mut() {
            entry.stopped_by = StoppedBy::Interrupt;
        }
    }

    /// Notes that the session ends: tasks that are stopped from now on are not reported.
    pub(crate) fn close(&self) {
        self.board().closed = true;
    }

    /// Waits until the caller that stopped this subagent has the response. Returns whether it was stopped in the
    /// background of a conversation that continues.
    pub(crate) async fn stop_was_answered(&self, id: &TaskId) -> bool {
        let answered = {
            let board = self.board();
            let Some(stopped) = board.stopped.get(id) else { return false };
            stopped.answered.clone()
        };
        if let Some(answered) = answered {
            answered.cancelled().await;
        }
        true
    }

    /// Releases the notice of a stopped subagent, which has ended now.
    pub(crate) fn came_to_an_end(&self, id: &TaskId) {
        {
            let mut board = self.board();
            let notice = board.stopped.remove(id).and_then(|stopped| stopped.notice);
            board.notices.extend(notice);
        }
        self.ended.notify_one();
    }

    /// Whether a task runs in the background.
    pub(crate) fn has_background_tasks(&self) -> bool {
        let board = self.board();
        board.running.values().any(|entry| entry.backgrounded) || !board.stopped.is_empty()
    }

    /// Takes the notices for the model about tasks that have ended.
    pub(crate) fn take_notices(&self) -> Vec<UserMessage> {
        std::mem::take(&mut self.board().notices)
    }

    /// The kind of a running subagent.
    pub(crate) fn agent_type(&self, id: &TaskId) -> Option<String> {
        self.board().running.get(id).and_then(|entry| entry.subagent_type.clone())
    }

    /// The ID of one run of a task.
    pub(crate) fn run_id(&self, id: &TaskId) -> Option<String> {
        self.board().running.get(id).map(|entry| entry.run_id.clone())
    }

    /// Watches the number of tasks that were started in or moved to the background.
    pub(crate) fn moves(&self) -> watch::Receiver<usize> {
        self.moved.subscribe()
    }

    /// Sends the list of background tasks to the host.
    pub(crate) fn announce(&self) {
        let tasks = self.background();
        self.sink.enqueue(BackgroundTasksChangedMessage {
            tasks,
            ..BackgroundTasksChangedMessage::default()
        });
    }

    /// Adds a subagent that starts.
    pub(crate) fn agent_started(&self, agent: StartedAgent<'_>) {
        let run_id = new_run_id();
        let entry = BackgroundTaskEntry {
            run_id: run_id.clone(),
            kind: TaskKind::Agent,
            subagent_type: Some(agent.kind.to_owned()),
            description: agent.description.to_owned(),
            tool_use_id: Some(agent.tool_use_id.clone()),
            backgrounded: agent.backgrounded,
            stopped_by: StoppedBy::default(),
            answered: None,
            slot: None,
        };
        {
            let mut board = self.board();
            agent_count::started(&mut board.agents, &agent);
            let entry = BackgroundTaskEntry { slot: Some(agent.slot), ..entry };
            board.running.insert(agent.id.clone(), entry);
        }
        if agent.backgrounded {
            self.announce();
        }
        self.sink.enqueue(TaskStartedMessage {
            task_id: agent.id.clone(),
            run_id: Some(run_id),
            tool_use_id: Some(agent.tool_use_id.clone()),
            description: agent.description.to_owned(),
            subagent_type: Some(agent.kind.to_owned()),
            is_backgrounded: Some(agent.backgrounded),
            spawn_depth: Some(agent.depth.into()),
            parent_task_id: agent.parent,
            task_type: Some(TaskKind::Agent.as_str().into()),
            prompt: Some(agent.prompt.to_owned()),
            ..TaskStartedMessage::default()
        });
    }

    fn command_started(&self, info: &TaskInfo) {
        let run_id = new_run_id();
        let entry = BackgroundTaskEntry {
            run_id: run_id.clone(),
            kind: info.kind,
            subagent_type: None,
            description: info.description.clone(),
            tool_use_id: info.tool_use_id.clone(),
            backgrounded: info.backgrounded,
            stopped_by: StoppedBy::default(),
            answered: None,
            slot: None,
        };
        self.board().running.insert(info.id.clone(), entry);
        if info.backgrounded {
            self.announce();
        }
        self.sink.enqueue(TaskStartedMessage {
            task_id: info.id.clone(),
            run_id: Some(run_id),
            tool_use_id: info.tool_use_id.clone(),
            description: info.description.clone(),
            is_backgrounded: Some(info.backgrounded),
            task_type: Some(info.kind.as_str().into()),
            ..TaskStartedMessage::default()
        });
        if info.backgrounded {
            self.moved.send_modify(|moves| *moves += 1);
        }
    }

    /// Moves a task to the background.
    pub(crate) fn backgrounded(&self, id: &TaskId) {
        let run_id = {
            let mut board = self.board();
            let Some(entry) = board.running.get_mut(id) else { return };
            entry.backgrounded = true;
            entry.run_id.clone()
        };
        self.announce();
        self.sink.enqueue(TaskUpdatedMessage {
            task_id: id.clone(),
            run_id: Some(run_id),
            patch: TaskPatch { is_backgrounded: Some(true), ..TaskPatch::default() },
            ..TaskUpdatedMessage::default()
        });
        self.moved.send_modify(|moves| *moves += 1);
    }

    /// Removes a task that has ended. If it ran in the background, the model gets a notice.
    pub(crate) fn ended(&self, id: &TaskId, ended: EndedTask) {
        let Some(mut entry) = self.remove(id, ended.status) else { return };
        // The slot is free before the end is sent: a receiver may start the next agent at once.
        drop(entry.slot.take());
        if entry.backgrounded || entry.kind == TaskKind::Agent {
            self.sink.enqueue(TaskUpdatedMessage {
                task_id: id.clone(),
                run_id: Some(entry.run_id.clone()),
                patch: TaskPatch {
                    status: Some(ended.status.as_str().into()),
                    end_time: Some(millis(since_epoch())),
                    error: ended.error.clone(),
                    ..TaskPatch::default()
                },
                ..TaskUpdatedMessage::default()
            });
        }
        let status = match ended.status {
            TaskStatus::Completed => TaskOutcome::Completed,
            TaskStatus::Killed => TaskOutcome::Stopped,
            _ => TaskOutcome::Failed,
        };
        self.sink.enqueue(TaskNotificationMessage {
            task_id: id.clone(),
            run_id: Some(entry.run_id.clone()),
            tool_use_id: entry.tool_use_id.clone(),
            status: status.clone(),
            output_file: ended.output_file.clone(),
            summary: ended.summary.clone(),
            usage: ended.usage.clone(),
            ..TaskNotificationMessage::default()
        });
        if entry.backgrounded {
            self.announce();
            let notice = notice::of(id, &entry, status.as_str(), &ended);
            let mut board = self.board();
            match ended.status {
                TaskStatus::Killed if entry.kind == TaskKind::Agent && !board.closed => {
                    let notice = Some(notice).filter(|_| entry.stopped_by != StoppedBy::Interrupt);
                    let stopped = StoppedAgent { notice, answered: entry.answered };
                    board.stopped.insert(id.clone(), stopped);
                }
                TaskStatus::Killed => {}
                _ => board.notices.push(notice),
            }
            drop(board);
            self.ended.notify_one();
        }
    }

    fn remove(&self, id: &TaskId, status: TaskStatus) -> Option<BackgroundTaskEntry> {
        let mut board = self.board();
        let entry = board.running.remove(id)?;
        if entry.kind == TaskKind::Agent {
            agent_count::ended(&mut board.agents, status, entry.stopped_by);
        }
        Some(entry)
    }

    fn background(&self) -> Vec<BackgroundTask> {
        let board = self.board();
        let shown = board.running.iter().filter(|(_, entry)| entry.backgrounded);
        let task = |(id, entry): (&TaskId, &BackgroundTaskEntry)| BackgroundTask {
            task_id: id.clone(),
            run_id: Some(entry.run_id.clone()),
            task_type: entry.kind.as_str().into(),
            subagent_type: entry.subagent_type.clone(),
            description: entry.description.clone(),
            parent_task_id: None,
            ambient: None,
            extra: Extra::new(),
        };
        shown.map(task).collect()
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.tasks.lock()
    }
}

/// Shell commands report themselves; subagents are reported by their run, unless they are stopped:
/// they end later, but are reported as stopped at once.
impl TaskObserver for TaskBoard {
    fn task_event(&self, event: TaskEvent) {
        match event {
            TaskEvent::Started(info) if info.kind == TaskKind::Command => {
                self.command_started(&info);
            }
            TaskEvent::Backgrounded(info) => self.backgrounded(&info.id),
            TaskEvent::Finished(info) if info.kind == TaskKind::Command => {
                let output_file = match info.backgrounded {
                    true => info.output_file.as_deref(),
                    false => None,
                };
                let ended = EndedTask {
                    status: info.status,
                    summary: info.summary(),
                    error: None,
                    output_file: output_file
                        .map(|path| path.display().to_string())
                        .unwrap_or_default(),
                    usage: None,
                    worktree: None,
                };
                self.ended(&info.id, ended);
            }
            TaskEvent::Finished(info) if info.status == TaskStatus::Killed => {
                let output_file = info.output_file.unwrap_or_default().display().to_string();
                let ended = EndedTask {
                    status: info.status,
                    // There is no result, so the notice repeats the description.
                    summary: info.description,
                    error: None,
                    output_file,
                    usage: None,
                    worktree: None,
                };
                self.ended(&info.id, ended);
            }
            _ => {}
        }
    }
}

fn new_run_id() -> String {
    let random = Uuid::new_v4().simple().to_string();
    format!("0{}-{}", &random[..8], &random[8..16])
}
