//! One writer per session: a lock file that says who holds it.
//!
//! The lock is the operating system's (`flock`), so it ends with its process, however that ends;
//! the file's text only tells a second process who that is.

use std::{
    fmt,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    process, thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{SessionError, clock, project::SessionFiles};

/// How long the lock of a dead process may linger. One that was killed while it started a command
/// leaves a copy of its open files in the child, until that has become the command.
const LINGERS: Duration = Duration::from_secs(2);

/// How often to look whether it still does.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Who writes a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockHolder {
    /// The process; 0 when it did not say.
    pub pid: u32,
    /// Since when.
    pub since: String,
}

impl LockHolder {
    /// Whether its process still runs; a holder that did not say who it is counts as alive.
    #[cfg(unix)]
    fn is_alive(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        pid.is_none_or(|pid| {
            rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
        })
    }

    /// Elsewhere a command does not begin as a copy of the process that starts it.
    #[cfg(not(unix))]
    fn is_alive(&self) -> bool {
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

/// The right to write a session, held until dropped.
#[derive(Debug)]
pub struct SessionLock {
    file: File,
    path: PathBuf,
}

impl SessionLock {
    /// Takes the lock, or says who has it.
    pub fn acquire(files: &SessionFiles) -> Result<Self, SessionError> {
        let path = files.lock();
        let patience = Instant::now() + LINGERS;
        loop {
            let mut file = open(&path).map_err(SessionError::io(&path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let (id, holder) = (files.id().clone(), read_holder(&mut file));
                    if holder.is_alive() || Instant::now() > patience {
                        return Err(SessionError::Locked { id, holder });
                    }
                    thread::sleep(LOOK_AGAIN);
                    continue;
                }
                Err(TryLockError::Error(source)) => return Err(SessionError::io(&path)(source)),
            }
            // Its last holder may have removed the file between our opening and locking it.
            if is_still_at(&file, &path) {
                let mut lock = Self { file, path };
                lock.sign();
                return Ok(lock);
            }
        }
    }

    /// Says who holds the lock. It holds without, so failing is no harm.
    fn sign(&mut self) {
        let holder = LockHolder { pid: process::id(), since: clock::now() };
        if let Ok(text) = serde_json::to_vec(&holder) {
            let _ = self.file.set_len(0).and_then(|()| self.file.write_all(&text));
        }
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // While still locked: afterwards the file could be another holder's.
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    bowline_private::open(path, &mut options)
}

fn read_holder(file: &mut File) -> LockHolder {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
}

#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn is_still_at(_: &File, path: &Path) -> bool {
    path.exists()
}
