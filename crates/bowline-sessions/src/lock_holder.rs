//! Process that holds the lock of a session.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Process that writes a session, as its lock file names it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockHolder {
    /// Process id; 0 if the lock file does not name one.
    pub pid: u32,
    /// Time at which it took the lock.
    pub since: String,
}

impl LockHolder {
    /// Whether its process still runs; true for a holder without a process id.
    #[cfg(unix)]
    pub(crate) fn is_alive(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        pid.is_none_or(|pid| {
            rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
        })
    }

    /// Always true: only after `fork` can a lock outlive its process, so there is nothing to wait for.
    #[cfg(not(unix))]
    pub(crate) fn is_alive(&self) -> bool {
        true
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            0 => f.write_str("another process"),
            pid => write!(f, "process {pid} since {}", self.since),
        }
    }
}
