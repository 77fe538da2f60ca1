//! Scripts that hooks write for later commands of a session (`CLAUDE_ENV_FILE`).
//!
//! Each event that may leave something has a script of its own; all of them run before every command.

use std::{fs, io, path::PathBuf};

use bowline_protocol::HookEvent;

/// The scripts of a session. Its folder is made when the first hook may need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scripts {
    folder: PathBuf,
}

impl Scripts {
    /// The scripts of the session that has this folder for them.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Whether hooks of an event may write scripts.
    pub fn are_for(event: &HookEvent) -> bool {
        name(event).is_some()
    }

    /// The file for hooks of this event, in a folder that is there.
    pub(super) fn prepare(&self, event: &HookEvent) -> Option<PathBuf> {
        let path = self.folder.join(name(event)?);
        match bowline_private::folder(&self.folder) {
            Ok(()) => Some(path),
            Err(error) => {
                tracing::warn!(folder = %self.folder.display(), %error, "hooks cannot set variables");
                None
            }
        }
    }

    /// Forgets what no longer holds when this event happens again.
    pub fn forget(&self, event: &HookEvent) -> io::Result<()> {
        let stale: &[&str] = match event {
            HookEvent::CwdChanged => &["cwdchanged.sh", "filechanged.sh"],
            HookEvent::FileChanged => &["filechanged.sh"],
            _ => &[],
        };
        for name in stale {
            match fs::remove_file(self.folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// What hooks have written, in the order in which it is to run.
    pub fn written(&self) -> Vec<PathBuf> {
        let names = ["setup.sh", "sessionstart.sh", "cwdchanged.sh", "filechanged.sh"];
        let paths = names.iter().map(|name| self.folder.join(name));
        paths.filter(|path| fs::metadata(path).is_ok_and(|file| file.len() > 0)).collect()
    }

    /// Takes everything away; the session has ended.
    pub fn remove(&self) {
        let gone = fs::remove_dir_all(&self.folder);
        // Others may still have theirs beside it.
        if gone.is_ok() {
            self.folder.parent().map(fs::remove_dir);
        }
    }
}

fn name(event: &HookEvent) -> Option<&'static str> {
    match event {
        HookEvent::Setup => Some("setup.sh"),
        HookEvent::SessionStart => Some("sessionstart.sh"),
        HookEvent::CwdChanged => Some("cwdchanged.sh"),
        HookEvent::FileChanged => Some("filechanged.sh"),
        _ => None,
    }
}
