//! What only Bowline's own tests need. The direction of crate dependencies is checked here, too.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Writes a program for the shell, to be run at once.
///
/// Another process does the writing: a child that another test forks meanwhile would hold a file of
/// this one open, and what is open for writing does not run.
///
/// # Panics
///
/// If it cannot be written.
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
