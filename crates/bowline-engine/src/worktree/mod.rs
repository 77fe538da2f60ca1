//! Worktrees: copies of the project in which agents work alone, made by git or by hooks.

mod git;
mod repository;

use std::path::{Path, PathBuf};

use bowline_protocol::{EventInput, Extra, HookEvent, WorktreeCreateInput, WorktreeRemoveInput};
use tokio_util::sync::CancellationToken;

use self::repository::LockedRepository;
use crate::{
    identity::Identity, permission::RuleSource, session_context::SessionContext,
    tasks::KeptWorktree,
};

/// Result for the model where there is neither a repository nor a hook.
const NO_REPOSITORY: &str = "The agent's worktree was not created: the working directory is not in \
    a git repository, and no WorktreeCreate hook is configured. For another version control system, \
    configure WorktreeCreate and WorktreeRemove hooks in settings.json.";

/// Result for the model if no hook names a folder.
const NO_PATH: &str = "WorktreeCreate hook failed: it returned no worktree path. A command prints the \
    path on stdout; an HTTP endpoint or a callback returns hookSpecificOutput.worktreePath.";

/// A copy of the project.
#[derive(Debug)]
pub(crate) struct Worktree {
    path: PathBuf,
    origin: Origin,
    /// The commit that was checked out first; `None` outside of git.
    base: Option<String>,
}

/// What created a worktree.
#[derive(Debug)]
enum Origin {
    Git { top_level: PathBuf, branch: String },
    Hooks,
}

impl Worktree {
    /// Creates one for an agent that works in `directory`.
    pub(crate) async fn create(
        session: &SessionContext,
        name: &str,
        directory: &Path,
        cancel: &CancellationToken,
    ) -> Result<Self, String> {
        let worktree = if session.hooks.has(HookEvent::WorktreeCreate) {
            Self::create_with_hooks(session, name, directory, cancel).await?
        } else {
            Self::create_with_git(name, directory, cancel).await?
        };
        session.permissions.policy().add_directory(RuleSource::Session, &worktree.path);
        session.workspace.set_added_roots(session.permissions.added_directories());
        Ok(worktree)
    }

    async fn create_with_git(
        name: &str,
        directory: &Path,
        cancel: &CancellationToken,
    ) -> Result<Self, String> {
        let top_level = git::top_level(directory).await.ok_or_else(|| NO_REPOSITORY.to_owned())?;
        let path = top_level.join(".claude/worktrees").join(name);
        let branch = format!("worktree-{name}");
        let failed = |error| format!("The agent's worktree was not created: {error}");
        let interrupted = || failed("interrupted".to_owned());
        let repository = tokio::select! {
            repository = LockedRepository::acquire(&top_level) => repository,
            () = cancel.cancelled() => return Err(interrupted()),
        };
        tokio::select! {
            made = repository.add_worktree(&path, &branch) => made.map_err(failed)?,
            // A large tree takes long, and an interrupt must not wait for it.
            () = cancel.cancelled() => {
                if let Err(error) = repository.discard_worktree(&path, &branch).await {
                    tracing::warn!(%error, path = %path.display(), "an incomplete worktree was not removed");
                }
                return Err(interrupted());
            }
        }
        let base = git::head(&path).await;
        Ok(Self { path, origin: Origin::Git { top_level, branch }, base })
    }

    async fn create_with_hooks(
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
            return Err(format!(
                "WorktreeCreate hook failed: {} is not a directory",
                path.display()
            ));
        }
        let base = match (git::top_level(&path).await, git::top_level(directory).await) {
            (Some(its), Some(ours)) if its == ours => {
                return Err(format!(
                    "WorktreeCreate hook failed: {} belongs to the repository at {}, so that changes \
                     in it would be changes there. Return a folder outside of that repository.",
                    path.display(),
                    ours.display()
                ));
            }
            (Some(_), _) => git::head(&path).await,
            (None, _) => None,
        };
        Ok(Self { path, origin: Origin::Hooks, base })
    }

    /// Its folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it if nothing was changed in it. If that is unknown, it stays.
    pub(crate) async fn remove_if_unchanged(
        self,
        session: &SessionContext,
    ) -> Option<KeptWorktree> {
        let unchanged = match &self.base {
            Some(base) => git::is_unchanged(&self.path, base).await,
            None => false,
        };
        let removed = unchanged && self.remove(session).await;
        if removed {
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
            Origin::Git { top_level, branch } => {
                let repository = LockedRepository::acquire(top_level).await;
                let removed = repository.remove_worktree(&self.path, branch).await;
                removed
                    .inspect_err(|error| {
                        tracing::warn!(%error, path = %self.path.display(), "a worktree was not removed");
                    })
                    .is_ok()
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

#[cfg(test)]
mod tests;
