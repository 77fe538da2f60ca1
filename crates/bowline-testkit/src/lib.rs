//! Helpers for Bowline's own tests: time limits, processes, scripts. The workspace's shape (crate
//! layers, module cycles) is tested here as well.

mod wait;

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

pub use wait::{PATIENCE, eventually, process_gone, process_stopped, soon};

/// Writes an executable shell script, to be run at once.
///
/// Another process does the writing: a child that another test forks meanwhile would hold a file of
/// this one open, and a file that is open for writing cannot be executed.
///
/// # Panics
///
/// If it cannot be written.
#[expect(clippy::disallowed_methods, reason = "only for tests")]
pub fn write_script(path: &Path, text: &str) {
    let mut writer = Command::new("sh")
        .args(["-c", r#"cat > "$0" && chmod 755 "$0""#])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let mut input = writer.stdin.take().expect("it is piped");
    write!(input, "#!/bin/sh\n{text}\n").expect("the shell reads");
    drop(input);
    assert!(writer.wait().expect("it is our child").success(), "the folder is ours");
}
