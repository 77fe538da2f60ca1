//! A folder that may be read, one that may not, and short ways to try things in a confinement.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use bowline_sandbox::{Confinement, Support};
use tempfile::TempDir;

pub(crate) struct Rig {
    _folder: TempDir,
    /// May be read.
    pub(crate) project: PathBuf,
    /// May not.
    pub(crate) outside: PathBuf,
    pub(crate) confinement: Confinement,
}

impl Rig {
    /// `None`, told aloud, on a kernel without Landlock.
    pub(crate) fn new() -> Option<Self> {
        if !Support::of_kernel().confines() {
            eprintln!("not tried: {:?}", Support::of_kernel());
            return None;
        }
        let folder = TempDir::new().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (project, outside) = (root.join("project"), root.join("outside"));
        for folder in [&project, &outside] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("file"), "words\n").unwrap();
        }
        let mut confinement = Confinement::default();
        confinement.read(&project);
        Some(Self { _folder: folder, project, outside, confinement })
    }

    /// What the confined thread itself gets.
    pub(crate) fn attempt<T: Send>(
        &self,
        attempt: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        self.confinement.inside(attempt)
    }

    /// What a script prints, with how it ended.
    pub(crate) fn bash(&self, script: &str) -> Output {
        let mut command = Command::new("/bin/bash");
        command
            .args(["-c", script])
            .current_dir(&self.project)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        self.confinement.inside(|| command.spawn()).unwrap().wait_with_output().unwrap()
    }

    /// What a script prints that must succeed.
    pub(crate) fn prints(&self, script: &str) -> String {
        let output = self.bash(script);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}: {} {error}", output.status);
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.project.join("file")
    }
}

/// Whether it failed because it is not allowed.
pub(crate) fn refused<T: std::fmt::Debug>(result: io::Result<T>, what: &str) {
    let error = result.expect_err(what);
    let refusals = [libc::EACCES, libc::EPERM, libc::EROFS, libc::ENOSYS];
    let code = error.raw_os_error().unwrap_or_default();
    assert!(refusals.contains(&code), "{what}: {error}");
}

/// Whether a program is on this machine.
pub(crate) fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).exists())
}
