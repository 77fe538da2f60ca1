//! Private folders and files under the most open umask there is, and among other users.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

mod files;
mod folders;
mod temporary;

use std::{
    fs,
    os::unix::fs::{MetadataExt, chown},
    path::Path,
};

use rustix::fs::Mode;
use tempfile::TempDir;

/// The user that owns what "another user" has made in these tests.
const STRANGER: u32 = 65534;

/// A folder for a test, with a umask that keeps nothing from anybody.
fn place() -> TempDir {
    // Every test of this program sets the same one.
    rustix::process::umask(Mode::empty());
    tempfile::tempdir().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

/// Gives something to another user, which only root can: elsewhere the test has nothing to say.
fn give_away(path: &Path) -> bool {
    let given = rustix::process::geteuid().is_root();
    match given {
        true => chown(path, Some(STRANGER), Some(STRANGER)).unwrap(),
        false => eprintln!("skipped: only root can give {} away", path.display()),
    }
    given
}
