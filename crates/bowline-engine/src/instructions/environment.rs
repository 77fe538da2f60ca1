//! Facts about the machine and the project. Read once per conversation, without starting any program.

use std::path::{Path, PathBuf};

use time::OffsetDateTime;

/// Facts about the machine and the project of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Environment {
    pub(crate) directory: PathBuf,
    pub(crate) repository: Option<Repository>,
    pub(crate) date: String,
}

/// The git repository around a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// Its top folder.
    pub(crate) top: PathBuf,
    /// The branch that is checked out; `None` if the head is detached.
    pub(crate) branch: Option<String>,
}

impl Environment {
    pub(crate) fn look(directory: PathBuf) -> Self {
        Self {
            repository: Repository::around(&directory),
            directory,
            date: OffsetDateTime::now_utc().date().to_string(),
        }
    }

    /// The section of the system prompt.
    pub(crate) fn section(&self, model: &str, added_directories: &[PathBuf]) -> String {
        let mut lines = vec![
            "# Environment".to_owned(),
            format!("Working directory: {}", self.directory.display()),
        ];
        let more = added_directories.iter();
        lines.extend(more.map(|path| format!("Also to work in: {}", path.display())));
        lines.push(match &self.repository {
            None => "Git repository: no".to_owned(),
            Some(Repository { top, branch: Some(branch) }) => {
                format!("Git repository: {}, on branch {branch}", top.display())
            }
            Some(Repository { top, branch: None }) => {
                format!("Git repository: {}, no branch checked out", top.display())
            }
        });
        lines.push(format!("Platform: {} ({})", std::env::consts::OS, std::env::consts::ARCH));
        lines.push(format!("Date: {}", self.date));
        lines.push(format!("Model: {model}"));
        lines.join("\n")
    }
}

impl Repository {
    /// The repository that a folder lies in.
    pub(crate) fn around(directory: &Path) -> Option<Self> {
        directory.ancestors().find_map(|top| {
            let data = data_folder(&top.join(".git"))?;
            let head = bowline_private::read_regular(&data.join("HEAD")).ok()?;
            let branch = head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned);
            Some(Self { top: top.to_path_buf(), branch })
        })
    }
}

/// The folder with a repository's data: `.git` itself, or what a worktree's `.git` file names.
fn data_folder(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_path_buf());
    }
    let named = bowline_private::read_regular(git).ok()?;
    let named = named.trim().strip_prefix("gitdir:")?.trim();
    Some(git.parent()?.join(named))
}
