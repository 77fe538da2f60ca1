//! Background tasks of a session: commands and subagents.
//!
//! Commands are started and driven here ([`Job`]); subagents register themselves
//! ([`Tasks::register`]). Every holder of the workspace can list them, read their
//! output and stop them. Dropping the registry kills everything it started.

mod info;
mod job;
mod register;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bowline_process::ProcessGroups;
use bowline_protocol::{TaskId, ToolUseId};
use parking_lot::Mutex;
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub use info::{NoSuchTask, TaskEvent, TaskInfo, TaskKind, TaskObserver, TaskOutput, TaskStatus};
pub(crate) use job::{Job, JobEnd, NewJob};
pub use register::{NewTask, TaskHandle};

use crate::process::Capture;

/// Ended tasks whose output can still be read; older ones are removed so that a long
/// session does not grow without end.
const ENDED_KEPT: usize = 64;

/// How much of a long output is read back: its end, as much as a model can use.
const OUTPUT_TAIL_BYTES: usize = 32 * 1024;

/// The tasks of one session and its subagents.
#[derive(Debug)]
pub struct Tasks {
    shared: Arc<TaskTable>,
    /// The drivers of commands; dropping them kills what they drive.
    drivers: Mutex<JoinSet<()>>,
}

/// What the drivers and handles of single tasks need of the registry. They must not keep the
/// drivers themselves alive.
struct TaskTable {
    dir: PathBuf,
    observer: Option<Arc<dyn TaskObserver>>,
    entries: Mutex<BTreeMap<TaskId, Entry>>,
    groups: Arc<ProcessGroups>,
}

struct Entry {
    info: TaskInfo,
    /// Whether `Started` was sent, so that `Finished` must be.
    announced: bool,
    output: Output,
    /// Asks the task to end.
    stop: CancellationToken,
    /// Asks a foreground command to move to the background.
    detach: CancellationToken,
    /// Becomes true when the task has ended.
    ended: watch::Sender<bool>,
}

/// Where a task's output is.
enum Output {
    Captured(Arc<Mutex<Capture>>),
    Text(String),
}

impl Tasks {
    pub(crate) fn new(dir: PathBuf, observer: Option<Arc<dyn TaskObserver>>) -> Self {
        Self {
            shared: Arc::new(TaskTable {
                dir,
                observer,
                entries: Mutex::new(BTreeMap::new()),
                groups: Arc::new(ProcessGroups::default()),
            }),
            drivers: Mutex::new(JoinSet::new()),
        }
    }

    /// Every task that was announced and is still kept, oldest first.
    pub fn list(&self) -> Vec<TaskInfo> {
        let entries = self.shared.entries.lock();
        let announced = entries.values().filter(|entry| entry.announced);
        let mut list: Vec<_> = announced.map(|entry| entry.info.clone()).collect();
        list.sort_by_key(|info| info.started);
        list
    }

    /// One task.
    pub fn get(&self, id: &TaskId) -> Result<TaskInfo, NoSuchTask> {
        let entries = self.shared.entries.lock();
        entries.get(id).map(|entry| entry.info.clone()).ok_or_else(|| NoSuchTask(id.clone()))
    }

    /// What the task has put out so far.
    pub fn output(&self, id: &TaskId) -> Result<TaskOutput, NoSuchTask> {
        let entries = self.shared.entries.lock();
        let entry = entries.get(id).ok_or_else(|| NoSuchTask(id.clone()))?;
        let (text, total_bytes, truncated) = match &entry.output {
            Output::Text(text) => (text.clone(), text.len() as u64, false),
            Output::Captured(capture) => {
                let capture = capture.lock();
                let text = capture.end_text(OUTPUT_TAIL_BYTES);
                (text, capture.total(), capture.total() > OUTPUT_TAIL_BYTES as u64)
            }
        };
        Ok(TaskOutput { info: entry.info.clone(), text, total_bytes, truncated })
    }

    /// Waits until the task has ended, at most `timeout`, and returns its state.
    pub async fn wait(&self, id: &TaskId, timeout: Duration) -> Result<TaskInfo, NoSuchTask> {
        let mut ended = self.subscribe(id)?;
        // A timeout and a removed task both show in the state below.
        let _ = tokio::time::timeout(timeout, ended.wait_for(|ended| *ended)).await;
        self.get(id)
    }

    /// Stops a running task and waits until it is gone.
    pub async fn stop(&self, id: &TaskId) -> Result<TaskInfo, NoSuchTask> {
        let mut ended = self.subscribe(id)?;
        {
            let mut entries = self.shared.entries.lock();
            let entry = entries.get_mut(id).ok_or_else(|| NoSuchTask(id.clone()))?;
            if entry.info.status != TaskStatus::Running {
                return Err(NoSuchTask(id.clone()));
            }
            entry.stop.cancel();
        }
        if matches!(self.get(id)?.kind, TaskKind::Agent) {
            // A subagent takes a while to end; observers see it as stopped now.
            self.shared.finish(id, TaskStatus::Killed, None);
        }
        let _ = ended.wait_for(|ended| *ended).await;
        self.get(id)
    }

    /// Stops every running task.
    pub async fn stop_all(&self) {
        self.stop_those(|_| true).await;
    }

    /// Stops the running tasks for which `which` returns true.
    pub async fn stop_those(&self, which: impl Fn(&TaskInfo) -> bool) {
        let running: Vec<_> = {
            let entries = self.shared.entries.lock();
            let tasks = entries.values().map(|entry| &entry.info);
            let running = tasks.filter(|task| task.status == TaskStatus::Running && which(task));
            running.map(|task| task.id.clone()).collect()
        };
        futures_util::future::join_all(running.iter().map(|id| self.stop(id))).await;
    }

    /// Moves running foreground commands to the background: the one of a call, or all of them.
    /// Returns how many there were.
    pub fn move_to_background(&self, call: Option<&ToolUseId>) -> usize {
        let entries = self.shared.entries.lock();
        let asked = entries.values().filter(|entry| {
            entry.info.status == TaskStatus::Running
                && !entry.info.backgrounded
                && call.is_none_or(|call| entry.info.tool_use_id.as_ref() == Some(call))
        });
        asked.inspect(|entry| entry.detach.cancel()).count()
    }

    fn subscribe(&self, id: &TaskId) -> Result<watch::Receiver<bool>, NoSuchTask> {
        let entries = self.shared.entries.lock();
        entries.get(id).map(|entry| entry.ended.subscribe()).ok_or_else(|| NoSuchTask(id.clone()))
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        // Aborted drivers are dropped by the runtime when it comes to it, if it still does.
        self.shared.groups.kill_all();
        for entry in self.shared.entries.lock().values() {
            entry.stop.cancel();
        }
    }
}

impl TaskTable {
    fn new_id(kind: TaskKind) -> TaskId {
        let random = Uuid::new_v4().simple().to_string();
        TaskId(format!("{}{}", kind.letter(), &random[..8]))
    }

    fn insert(&self, entry: Entry) {
        let mut entries = self.entries.lock();
        let mut ended: Vec<_> = entries
            .values()
            .filter_map(|entry| entry.info.ended.map(|ended| (ended, entry.info.id.clone())))
            .collect();
        if ended.len() > ENDED_KEPT {
            ended.sort();
            for (_, id) in &ended[..ended.len() - ENDED_KEPT] {
                entries.remove(id);
            }
        }
        entries.insert(entry.info.id.clone(), entry);
    }

    /// Tells the observer that the task exists, once.
    fn announce(&self, id: &TaskId) {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.get_mut(id)
            && !entry.announced
        {
            entry.announced = true;
            // Sent under the lock, so that events arrive in the order in which they happened.
            self.send(TaskEvent::Started(entry.info.clone()));
        }
    }

    fn set_backgrounded(&self, id: &TaskId, output_file: Option<PathBuf>) {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.get_mut(id)
            && !entry.info.backgrounded
        {
            entry.info.backgrounded = true;
            entry.info.output_file = output_file.or(entry.info.output_file.take());
            if entry.announced {
                self.send(TaskEvent::Backgrounded(entry.info.clone()));
            } else {
                entry.announced = true;
                self.send(TaskEvent::Started(entry.info.clone()));
            }
        }
    }

    /// Marks the end of a task; later calls have no effect.
    fn finish(&self, id: &TaskId, status: TaskStatus, exit_code: Option<i32>) {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(id) else { return };
        if entry.info.status != TaskStatus::Running {
            return;
        }
        entry.info.status = status;
        entry.info.exit_code = exit_code;
        entry.info.ended = Some(SystemTime::now());
        if entry.announced {
            self.send(TaskEvent::Finished(entry.info.clone()));
        }
        entry.ended.send_replace(true);
    }

    fn send(&self, event: TaskEvent) {
        if let Some(observer) = &self.observer {
            observer.task_event(event);
        }
    }
}

impl std::fmt::Debug for TaskTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskTable").field("dir", &self.dir).finish_non_exhaustive()
    }
}
