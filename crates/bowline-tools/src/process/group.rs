//! Process groups that die with us, however we die.

use std::{
    collections::HashSet,
    io,
    sync::{Arc, Mutex},
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

use super::guardian;
use crate::workspace::lock;

/// The groups that are alive, so that all can be killed at once.
#[derive(Debug, Default)]
pub(crate) struct ProcessGroups(Mutex<HashSet<i32>>);

impl ProcessGroups {
    /// Kills every group, now.
    pub(crate) fn kill_all(&self) {
        for raw in lock(&self.0).drain() {
            signal(raw, Signal::KILL);
            guardian::dismiss(raw);
        }
    }
}

/// One process group. Dropping it kills what is left of the group, unless it was
/// [released](ProcessGroup::release).
#[derive(Debug)]
pub struct ProcessGroup {
    raw: i32,
    groups: Arc<ProcessGroups>,
}

impl ProcessGroup {
    /// The group led by a child that was just started as a leader (`process_group(0)`).
    pub fn led_by(child: &Child) -> io::Result<Self> {
        Self::among(child, &Arc::default())
    }

    /// The same, one of several that may have to go at once.
    pub(super) fn among(child: &Child, groups: &Arc<ProcessGroups>) -> io::Result<Self> {
        let leader = child.id().and_then(|id| i32::try_from(id).ok());
        let leader = leader.ok_or_else(|| io::Error::other("the process has no id"))?;
        lock(&groups.0).insert(leader);
        guardian::watch(leader);
        Ok(Self { raw: leader, groups: Arc::clone(groups) })
    }

    /// Asks the group to end.
    pub fn terminate(&self) {
        self.send(Signal::TERM);
    }

    /// Ends the group.
    pub fn kill(&self) {
        self.send(Signal::KILL);
    }

    /// Nobody is left in the group: its number may soon be somebody else's.
    pub fn release(&self) {
        if lock(&self.groups.0).remove(&self.raw) {
            guardian::dismiss(self.raw);
        }
    }

    fn send(&self, what: Signal) {
        // Under the lock, so that a released number is never signalled.
        let alive = lock(&self.groups.0);
        if alive.contains(&self.raw) {
            signal(self.raw, what);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
        self.release();
    }
}

fn signal(raw: i32, what: Signal) {
    if let Some(group) = Pid::from_raw(raw) {
        // The only error is that nobody is left to hear it.
        let _ = kill_process_group(group, what);
    }
}
