//! The process group of an agent, which dies with us.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process, kill_process_group},
};

/// A process group. Dropping it kills what is left, unless its leader was waited for.
///
/// Whoever starts the process in our place may not have made it the leader of a group. Then it is only
/// the process itself.
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<Pid>,
    /// The leader was waited for: its number may soon be somebody else's.
    gone: AtomicBool,
}

impl Group {
    pub(super) fn led_by(process: Option<u32>) -> Self {
        let leader = process.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self { leader, gone: AtomicBool::new(false) }
    }

    pub(super) fn terminate(&self) {
        self.send(Signal::TERM);
    }

    pub(super) fn kill(&self) {
        self.send(Signal::KILL);
    }

    /// Its leader was waited for. What the leader has started and left behind is told to go, too: as long
    /// as any of it is there, the number of the group is nobody else's.
    pub(super) fn outlive(&self) {
        if !self.gone.swap(true, Ordering::AcqRel)
            && let Some(leader) = self.leader
        {
            // The only error is that nobody is left to hear it.
            let _ = kill_process_group(leader, Signal::TERM);
        }
    }

    fn send(&self, signal: Signal) {
        if let Some(leader) = self.leader
            && !self.gone.load(Ordering::Acquire)
        {
            // It was not waited for, so its number is nobody else's, group or not. Beyond that the only
            // error is that nobody is left to hear it.
            if kill_process_group(leader, signal) == Err(Errno::SRCH) {
                let _ = kill_process(leader, signal);
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
