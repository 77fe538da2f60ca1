//! Process groups that end with their owner, however it ends.

use std::{collections::HashSet, io, process::ExitStatus, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process, kill_process_group},
};
use tokio::{process::Child, time::timeout};

use crate::guardian::{self, OrphanPolicy};

/// A set of living groups that can be killed at once.
#[derive(Debug, Default)]
pub struct ProcessGroups(Mutex<HashSet<i32>>);

impl ProcessGroups {
    /// Adds the group led by a child that was just started with `process_group(0)`.
    pub fn add(self: &Arc<Self>, child: &Child) -> io::Result<ProcessGroup> {
        ProcessGroup::new(child, self, OrphanPolicy::Kill)
    }

    /// Kills every group.
    pub fn kill_all(&self) {
        for leader in self.0.lock().drain() {
            signal_group(leader, Signal::KILL);
            guardian::dismiss(leader);
        }
    }
}

/// One process group. Dropping it kills what is left of the group, unless it was
/// [released](ProcessGroup::release).
#[derive(Debug)]
pub struct ProcessGroup {
    leader: i32,
    policy: OrphanPolicy,
    /// Those that are alive. A group that is not among them is never signaled: its number may be reused.
    groups: Arc<ProcessGroups>,
}

/// Time limits of the termination ladder.
#[derive(Debug, Clone, Copy)]
pub struct StopGrace {
    /// How long a process may take to exit once its input has ended.
    pub end_of_input: Duration,
    /// How long it may take after SIGTERM.
    pub terminate: Duration,
}

impl ProcessGroup {
    /// The group led by a child that was just started with `process_group(0)`. The guardian kills it at once.
    pub fn led_by(child: &Child) -> io::Result<Self> {
        Self::new(child, &Arc::default(), OrphanPolicy::Kill)
    }

    /// The group of a child that writes files of its own, such as transcripts: the guardian sends SIGTERM
    /// first and kills a second later.
    ///
    /// A spawner that this crate does not know may have started it without making it the leader of a
    /// group. Then signals go to the process alone.
    pub fn of_agent(child: &Child) -> io::Result<Self> {
        Self::new(child, &Arc::default(), OrphanPolicy::TerminateThenKill)
    }

    fn new(child: &Child, groups: &Arc<ProcessGroups>, policy: OrphanPolicy) -> io::Result<Self> {
        let leader = child.id().and_then(|id| i32::try_from(id).ok());
        let leader =
            leader.ok_or_else(|| io::Error::other("the process was already waited for"))?;
        groups.0.lock().insert(leader);
        guardian::watch(leader, policy);
        Ok(Self { leader, policy, groups: Arc::clone(groups) })
    }

    /// Sends SIGTERM to the group.
    pub fn terminate(&self) {
        self.send(Signal::TERM);
    }

    /// Sends SIGKILL to the group.
    pub fn kill(&self) {
        self.send(Signal::KILL);
    }

    /// Waits for the leader to exit after its input has ended, sends SIGTERM, waits, and kills. Always returns.
    pub async fn stop(&self, child: &mut Child, grace: StopGrace) -> io::Result<ExitStatus> {
        if let Ok(status) = timeout(grace.end_of_input, child.wait()).await {
            return status;
        }
        self.terminate();
        if let Ok(status) = timeout(grace.terminate, child.wait()).await {
            return status;
        }
        self.kill();
        // The group may have been left by its leader; then this is what ends the wait.
        child.start_kill().ok();
        child.wait().await
    }

    /// Leaves the rest of the group running. To be called when its leader was reaped and none of it is left
    /// or all of it may stay: the number may be reused from then on.
    pub fn release(&self) {
        if self.groups.0.lock().remove(&self.leader) {
            guardian::dismiss(self.leader);
        }
    }

    /// Sends SIGTERM to what the leader, which was just reaped, has left running, and releases the group.
    /// As long as any process is in the group, its number is not reused.
    pub fn terminate_rest(&self) {
        if self.groups.0.lock().remove(&self.leader) {
            signal_group(self.leader, Signal::TERM);
            guardian::dismiss(self.leader);
        }
    }

    fn send(&self, signal: Signal) {
        // Under the lock, so that a released number is never signaled.
        let alive = self.groups.0.lock();
        if !alive.contains(&self.leader) {
            return;
        }
        let reached = signal_group(self.leader, signal);
        // An agent's group is released as soon as its leader is reaped, so the number is still its own.
        if !reached && self.policy == OrphanPolicy::TerminateThenKill {
            signal_process(self.leader, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
        self.release();
    }
}

/// Returns whether there is such a group.
fn signal_group(leader: i32, signal: Signal) -> bool {
    Pid::from_raw(leader).is_some_and(|it| kill_process_group(it, signal) != Err(Errno::SRCH))
}

fn signal_process(process: i32, signal: Signal) {
    if let Some(process) = Pid::from_raw(process) {
        // The only error left is that it has ended.
        let _ = kill_process(process, signal);
    }
}
