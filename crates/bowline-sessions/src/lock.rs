//! Session lock: one writer per session, with a lock file that names its holder.
//!
//! The lock is the operating system's (`flock`), so it ends with its process, however that ends;
//! the file's text only names the holder to a second process.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    process, thread,
    time::{Duration, Instant},
};

use crate::{SessionError, clock, lock_holder::LockHolder, project::SessionFiles};

/// Deadline for the lock of a dead process to disappear. One that was killed while it started a command
/// leaves a copy of its open files in the child, until that has become the command.
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval between attempts to lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// The right to write a session, held until dropped.
#[derive(Debug)]
pub struct SessionLock {
    file: File,
    path: PathBuf,
}

impl SessionLock {
    /// Takes the lock; [`SessionError::Locked`] names its holder.
    pub fn acquire(files: &SessionFiles) -> Result<Self, SessionError> {
        let path = files.lock();
        let deadline = Instant::now() + LINGER_TIMEOUT;
        loop {
            let mut file = open(&path).map_err(SessionError::io(&path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let (id, holder) = (files.id().clone(), read_holder(&mut file));
                    if holder.is_alive() || Instant::now() > deadline {
                        return Err(SessionError::Locked { id, holder });
                    }
                    thread::sleep(RETRY_INTERVAL);
                    continue;
                }
                Err(TryLockError::Error(source)) => return Err(SessionError::io(&path)(source)),
            }
            // Its last holder may have removed the file between our opening and locking it.
            if is_still_at(&file, &path) {
                let mut lock = Self { file, path };
                lock.write_holder();
                return Ok(lock);
            }
        }
    }

    /// Writes the holder into the lock file. The lock works without it, so a failure is ignored.
    fn write_holder(&mut self) {
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
