//! Time limits and polling for tests: a hang is a failure that names what hangs.

use std::{
    fs,
    future::Future,
    path::Path,
    time::{Duration, Instant},
};

/// Longer than any step of a test takes on a busy machine, short enough that a hang fails soon.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Interval between two looks at a condition that cannot be awaited.
const POLL: Duration = Duration::from_millis(5);

/// Awaits `work` within [`PATIENCE`].
///
/// # Panics
///
/// If it takes longer; `what` is named.
#[track_caller]
pub fn soon<T>(what: &str, work: impl Future<Output = T>) -> impl Future<Output = T> {
    let caller = std::panic::Location::caller();
    async move {
        match tokio::time::timeout(PATIENCE, work).await {
            Ok(done) => done,
            Err(_) => panic!("{what}: still not done after {PATIENCE:?} ({caller})"),
        }
    }
}

/// Polls until `holds` returns true, for conditions that no future reports: files, processes.
///
/// # Panics
///
/// If that takes longer than [`PATIENCE`]; `what` is named.
#[track_caller]
pub fn eventually(what: &str, holds: impl FnMut() -> bool) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    let mut holds = holds;
    async move {
        let start = Instant::now();
        while !holds() {
            assert!(start.elapsed() < PATIENCE, "{what}: not so after {PATIENCE:?} ({caller})");
            tokio::time::sleep(POLL).await;
        }
    }
}

/// Waits until a process is gone and was waited for.
///
/// # Panics
///
/// If it is still there after [`PATIENCE`].
#[track_caller]
pub fn process_gone(pid: impl std::fmt::Display) -> impl Future<Output = ()> {
    let folder = format!("/proc/{pid}");
    let caller = std::panic::Location::caller();
    async move {
        let what = format!("process {folder} has ended (waited for at {caller})");
        eventually(&what, || !Path::new(&folder).exists()).await;
    }
}

/// Waits until a process that is not a child of this one no longer runs. Its new parent may take its
/// time to wait for it, so a zombie has stopped as well.
///
/// # Panics
///
/// If it still runs after [`PATIENCE`].
#[track_caller]
pub fn process_stopped(pid: impl std::fmt::Display) -> impl Future<Output = ()> {
    let stat = format!("/proc/{pid}/stat");
    let caller = std::panic::Location::caller();
    async move {
        let what = format!("process {stat} has stopped (waited for at {caller})");
        let runs = || {
            let text = fs::read_to_string(&stat).unwrap_or_default();
            text.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
        };
        eventually(&what, || !runs()).await;
    }
}
