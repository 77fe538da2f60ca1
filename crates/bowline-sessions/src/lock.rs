//! One writer per session: a lock file that says who holds it.
//!
//! The lock is the operating system's (`flock`), so it ends with its process, however that ends;
//! the file's text only tells a second process whom it is waiting for.

use std::{
    fmt,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    process,
};

use serde::{Deserialize, Serialize};

use crate::{SessionError, clock, project::SessionFiles};

/// Who writes a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockHolder {
    /// The process; 0 when it did not say.
    pub pid: u32,
    /// Since when.
    pub since: String,
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
        loop {
            let mut file = open(&path).map_err(SessionError::io(&path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let (id, holder) = (files.id().clone(), read_holder(&mut file));
                    return Err(SessionError::Locked { id, holder });
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
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
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
