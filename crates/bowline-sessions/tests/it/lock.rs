//! Two processes, one session.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{self, Command, Stdio},
    thread,
    time::Duration,
};

use bowline_protocol::SessionId;
use bowline_sessions::{LineOrigin, SessionError, SessionFiles, SessionLock, TranscriptWriter};

use crate::transcript::{Home, ID, user};

const FOLDER: &str = "BOWLINE_TEST_LOCK_FOLDER";

/// Not a test: what the other process does. It holds the lock until it hears a line or is killed.
#[test]
fn other_process() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let files = SessionFiles::in_folder(PathBuf::from(folder), SessionId::from(ID));
    let _lock = SessionLock::acquire(&files).unwrap();
    println!("\nlocked");
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read_line(&mut String::new());
}

fn start_other(files: &SessionFiles) -> process::Child {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "lock::other_process", "--nocapture"])
        .env(FOLDER, files.project_folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let locked = output.lines().map_while(Result::ok).any(|line| line == "locked");
    assert!(locked, "the other process got the lock");
    child
}

#[test]
fn second_locker_gets_the_holder_and_a_dead_holder_is_ignored() {
    let home = Home::new();
    let files = home.write(ID, &[user("u", None, "hi")]);
    let mut other = start_other(&files);
    let refused = TranscriptWriter::resume(files.clone(), LineOrigin::default(), None);
    let Err(SessionError::Locked { holder, .. }) = refused else { panic!("must be refused") };
    assert_eq!(holder.pid, other.id());
    let refused = bowline_sessions::delete(&home.home, files.id(), None);
    assert!(matches!(refused, Err(SessionError::Locked { .. })));
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(files.lock().exists(), "killed, it could not clean up");
    TranscriptWriter::resume(files, LineOrigin::default(), None).unwrap();
}

#[test]
fn a_lock_is_gone_when_dropped() {
    let home = Home::new();
    let files = home.write(ID, &[]);
    let lock = SessionLock::acquire(&files).unwrap();
    let Err(SessionError::Locked { holder, .. }) = SessionLock::acquire(&files) else {
        panic!("also refused within one process")
    };
    assert_eq!(holder.pid, process::id());
    drop(lock);
    assert!(!files.lock().exists());
    // A file without a lock is stale, whatever its content.
    fs::write(files.lock(), "{\"pid\":1,\"since\":\"long ago\"}").unwrap();
    SessionLock::acquire(&files).unwrap();
}

/// A process that is killed while it starts a command leaves its lock in the child for a moment.
#[test]
fn lingering_lock_of_a_dead_process_is_waited_for() {
    let home = Home::new();
    let files = home.write(ID, &[]);
    let mut dead = Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let mut left_behind = fs::File::create(files.lock()).unwrap();
    write!(left_behind, "{{\"pid\":{},\"since\":\"just now\"}}", dead.id()).unwrap();
    left_behind.lock().unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| SessionLock::acquire(&files));
        // Whether it waits or has not begun yet: it must get the lock.
        thread::sleep(Duration::from_millis(20));
        drop(left_behind);
        waiting.join().unwrap().unwrap();
    });
}
