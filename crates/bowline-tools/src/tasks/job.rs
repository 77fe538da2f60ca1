//! One shell command from start to end, first in the foreground, perhaps later in the background.

use std::{
    io,
    path::PathBuf,
    process::ExitStatus,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bowline_process::exit_code;
use bowline_protocol::{TaskId, ToolUseId};
use parking_lot::Mutex;
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, sleep_until},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Entry, Output, TaskInfo, TaskKind, TaskStatus, TaskTable, Tasks};
use crate::process::{Capture, RunningCommand, ShellCommand};

/// A foreground command is announced as a task when it has run this long: quick ones are noise.
const ANNOUNCE_AFTER: Duration = Duration::from_secs(2);

/// A command to start.
#[derive(Debug)]
pub(crate) struct NewJob {
    pub(crate) command: ShellCommand,
    pub(crate) description: String,
    pub(crate) tool_use_id: ToolUseId,
    /// How much of the output is kept in memory before it goes to a file.
    pub(crate) memory: usize,
}

/// A running command whose caller waits for it. Dropping it stops the command, unless it was
/// [detached](Job::detach).
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: TaskId,
    pub(crate) capture: Arc<Mutex<Capture>>,
    /// Fires when it is to move to the background.
    pub(crate) detach_requested: CancellationToken,
    end: oneshot::Receiver<JobEnd>,
    deadline: watch::Sender<Option<Instant>>,
    stop: DropGuard,
    shared: Arc<TaskTable>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct JobEnd {
    pub(crate) status: ExitStatus,
    /// The shell's last directory, if it was reported.
    pub(crate) dir: Option<PathBuf>,
}

impl Tasks {
    /// Starts a command in the foreground.
    pub(crate) fn start(&self, job: NewJob) -> io::Result<Job> {
        let running = RunningCommand::spawn(&job.command, &self.shared.groups)?;
        let id = TaskTable::new_id(TaskKind::Command);
        let capture = Arc::new(Mutex::new(Capture::new(self.output_path(&id), job.memory)));
        let (stop, detach) = (CancellationToken::new(), CancellationToken::new());
        let (end_sender, end) = oneshot::channel();
        let (deadline, deadline_changes) = watch::channel(None);
        self.shared.insert(Entry {
            info: TaskInfo {
                id: id.clone(),
                kind: TaskKind::Command,
                status: TaskStatus::Running,
                description: job.description,
                command: Some(job.command.command),
                prompt: None,
                result: None,
                tool_use_id: Some(job.tool_use_id),
                backgrounded: false,
                output_file: None,
                exit_code: None,
                started: SystemTime::now(),
                ended: None,
            },
            announced: false,
            output: Output::Captured(Arc::clone(&capture)),
            stop: stop.clone(),
            detach: detach.clone(),
            ended: watch::Sender::new(false),
        });
        let driver = Driver {
            id: id.clone(),
            running,
            capture: Arc::clone(&capture),
            stop: stop.clone(),
            deadline: deadline_changes,
            shared: Arc::clone(&self.shared),
        };
        let mut drivers = self.drivers.lock();
        while drivers.try_join_next().is_some() {}
        drivers.spawn(driver.drive(end_sender));
        let shared = Arc::clone(&self.shared);
        let stop = stop.drop_guard();
        Ok(Job { id, capture, detach_requested: detach, end, deadline, stop, shared })
    }
}

impl Job {
    /// Waits until the command has ended. `None` if its driver was dropped with the workspace.
    ///
    /// # Cancel safety
    ///
    /// Can be dropped and called again until it has returned.
    pub(crate) async fn ended(&mut self) -> Option<JobEnd> {
        (&mut self.end).await.ok()
    }

    /// Ends the command and its children.
    pub(crate) async fn stop(mut self) {
        drop(self.stop);
        let _ = (&mut self.end).await;
        self.shared.entries.lock().remove(&self.id);
    }

    /// Lets the command go on without us, at most for `lifetime`, its output in a file.
    pub(crate) fn detach(self, lifetime: Duration) -> io::Result<PathBuf> {
        let file = self.capture.lock().spill()?;
        self.deadline.send_replace(Some(Instant::now() + lifetime));
        self.shared.set_backgrounded(&self.id, Some(file.clone()));
        self.stop.disarm();
        Ok(file)
    }

    /// Forgets a command that ended in the foreground.
    pub(crate) fn forget(self) {
        self.shared.entries.lock().remove(&self.id);
    }
}

/// Driver of a command: reads its output, obeys cancellation and deadlines, reports the end.
struct Driver {
    id: TaskId,
    running: RunningCommand,
    capture: Arc<Mutex<Capture>>,
    stop: CancellationToken,
    deadline: watch::Receiver<Option<Instant>>,
    shared: Arc<TaskTable>,
}

impl Driver {
    async fn drive(mut self, end: oneshot::Sender<JobEnd>) {
        let announce_at = Instant::now() + ANNOUNCE_AFTER;
        let mut announced = false;
        let mut killed = false;
        let status = loop {
            let deadline = *self.deadline.borrow_and_update();
            tokio::select! {
                status = self.running.advance(&self.capture) => break status,
                () = self.stop.cancelled(), if !killed => {
                    killed = true;
                    self.running.terminate();
                }
                () = sleep_until(deadline.unwrap_or(announce_at)), if deadline.is_some() && !killed => {
                    killed = true;
                    self.running.terminate();
                }
                Ok(()) = self.deadline.changed() => {}
                () = sleep_until(announce_at), if !announced => {
                    announced = true;
                    self.shared.announce(&self.id);
                }
            }
        };
        let dir = self.running.settle(&self.capture).await;
        let backgrounded = self.deadline.borrow().is_some();
        let code = exit_code(&status);
        if backgrounded {
            self.capture.lock().end(&format!("\n[exited with code {code}]\n"));
        }
        let (task_status, code) = match (killed, code) {
            (true, _) => (TaskStatus::Killed, None),
            (false, 0) => (TaskStatus::Completed, Some(0)),
            (false, code) => (TaskStatus::Failed, Some(code)),
        };
        self.shared.finish(&self.id, task_status, code);
        // The receiver is gone when the command was detached.
        let _ = end.send(JobEnd { status, dir });
        // Processes that the command left running live until the workspace is dropped.
        self.running.outlive().await;
    }
}
