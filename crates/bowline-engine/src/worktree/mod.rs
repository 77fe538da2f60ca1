//! A copy of the project in which an agent works by itself: a worktree of git, or what hooks make instead.

mod git;

use std::path::{Path, PathBuf};

use bowline_protocol::{EventInput, Extra, HookEvent, WorktreeCreateInput, WorktreeRemoveInput};
use tokio_util::sync::CancellationToken;

use crate::{
    identity::Identity, permission::RuleSource, session_context::SessionContext,
    tasks::KeptWorktree,
};

/// What the model hears where there is nothing to copy, and nobody who could.
const NO_REPOSITORY: &str = "Cannot create agent worktree: not in a git repository and no \
    WorktreeCreate hooks are configured. Configure WorktreeCreate/WorktreeRemove hooks in \
    settings.json to use worktree isolation with other VCS systems.";

/// What the model hears of hooks that say nothing.
const NO_PATH: &str = "WorktreeCreate hook failed: hook succeeded but returned no worktree path \
    (command: echo the path to stdout; http/callback: return hookSpecificOutput.worktreePath)";

/// A copy of the project.
#[derive(Debug)]
pub(crate) struct Worktree {
    path: PathBuf,
    origin: Origin,
    /// The commit that it began with; `None` if git knows nothing of it.
    base: Option<String>,
}

/// Who made it.
#[derive(Debug)]
enum Origin {
    Git { repository: PathBuf, branch: String },
    Hooks,
}

impl Worktree {
    /// Makes one for somebody who works in `directory`.
    pub(crate) async fn create(
        session: &SessionContext,
        name: &str,
        directory: &Path,
        cancel: &CancellationToken,
    ) -> Result<Self, String> {
        let worktree = if session.hooks.has(HookEvent::WorktreeCreate) {
            Self::of_hooks(session, name, directory, cancel).await?
        } else {
            Self::of_git(name, directory, cancel).await?
        };
        session.permissions.policy().add_directory(RuleSource::Session, &worktree.path);
        session.workspace.set_added_roots(session.permissions.added_directories());
        Ok(worktree)
    }

    async fn of_git(
        name: &str,
        directory: &Path,
        cancel: &CancellationToken,
    ) -> Result<Self, String> {
        let repository = git::top(directory).await.ok_or_else(|| NO_REPOSITORY.to_owned())?;
        let path = repository.join(".claude/worktrees").join(name);
        let branch = format!("worktree-{name}");
        let failed = |error| format!("Cannot create agent worktree: {error}");
        tokio::select! {
            made = git::add_worktree(&repository, &path, &branch) => made.map_err(failed)?,
            // A large tree takes long, and whoever interrupts does not want to wait for it.
            () = cancel.cancelled() => {
                if let Err(error) = git::discard_worktree(&repository, &path, &branch).await {
                    tracing::warn!(%error, "an incomplete worktree stays");
                }
                return Err(failed("interrupted".to_owned()));
            }
        }
        let base = git::head(&path).await;
        Ok(Self { path, origin: Origin::Git { repository, branch }, base })
    }

    async fn of_hooks(
        session: &SessionContext,
        name: &str,
        directory: &Path,
        cancel: &CancellationToken,
    ) -> Result<Self, String> {
        let (name, extra) = (name.to_owned(), Extra::new());
        let event = EventInput::WorktreeCreate(WorktreeCreateInput { name, extra });
        let report = session.hooks.run(&Identity::Main, event, cancel).await;
        if let Some(block) = report.blocks.first() {
            return Err(format!("WorktreeCreate hook failed: {}", block.reason));
        }
        let Some(path) = report.worktree_path else {
            let failed = report.failures.first();
            return Err(failed.map_or(NO_PATH.to_owned(), |failure| {
                format!("WorktreeCreate hook failed: {}: {}", failure.command, failure.message)
            }));
        };
        let path = directory.join(path);
        if !path.is_dir() {
            return Err(format!("WorktreeCreate hook failed: {} is no directory", path.display()));
        }
        let base = match (git::top(&path).await, git::top(directory).await) {
            (Some(its), Some(ours)) if its == ours => {
                return Err(format!(
                    "Refusing to use {} as an isolation worktree: it is part of the repository at \
                     {}, so that changes in it would be changes there",
                    path.display(),
                    ours.display()
                ));
            }
            (Some(_), _) => git::head(&path).await,
            (None, _) => None,
        };
        Ok(Self { path, origin: Origin::Hooks, base })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes it away if nothing was changed in it. One about which that is not known stays.
    pub(crate) async fn put_away(self, session: &SessionContext) -> Option<KeptWorktree> {
        let unchanged = match &self.base {
            Some(base) => git::is_unchanged(&self.path, base).await,
            None => false,
        };
        let gone = unchanged && self.remove(session).await;
        if gone {
            session.permissions.policy().remove_directory(RuleSource::Session, &self.path);
            session.workspace.set_added_roots(session.permissions.added_directories());
            return None;
        }
        let branch = match self.origin {
            Origin::Git { branch, .. } => Some(branch),
            Origin::Hooks => None,
        };
        Some(KeptWorktree { path: self.path, branch })
    }

    async fn remove(&self, session: &SessionContext) -> bool {
        match &self.origin {
            Origin::Git { repository, branch } => {
                let removed = git::remove_worktree(repository, &self.path, branch).await;
                removed.inspect_err(|error| tracing::warn!(%error, "a worktree stays")).is_ok()
            }
            Origin::Hooks if session.hooks.has(HookEvent::WorktreeRemove) => {
                let worktree_path = self.path.display().to_string();
                let event = EventInput::WorktreeRemove(WorktreeRemoveInput {
                    worktree_path,
                    extra: Extra::new(),
                });
                session.hooks.run(&Identity::Main, event, &CancellationToken::new()).await;
                !self.path.exists()
            }
            Origin::Hooks => false,
        }
    }
}
