//! What the session's calls may do: its rules, its mode, and its plan.

use std::path::{Path, PathBuf};

use bowline_protocol::{McpServerRef, PermissionMode, PermissionUpdate, UpdateDestination};

use super::Shared;
use crate::{
    identity::Identity,
    permission::{ProposedCall, Verdict, write_settings},
};

impl Shared {
    /// The working directories besides the first.
    pub(crate) fn added_directories(&self) -> Vec<PathBuf> {
        self.policy().directories().skip(1).map(Path::to_path_buf).collect()
    }

    /// Puts the name of the tool that the host wants used in the place of one it wants not used.
    pub(crate) fn redirect(&self, tool: &mut String) {
        if let Some(other) = self.live().host.tool_aliases.get(tool) {
            *tool = other.clone();
        }
    }

    /// Decides about a call, by the mode that counts for the server it belongs to or for the agent
    /// that makes it.
    pub(crate) fn judge(
        &self,
        call: &ProposedCall<'_>,
        server: Option<&McpServerRef>,
        caller: &Identity,
    ) -> Verdict {
        let mode = server.and_then(|server| self.live().server_modes.get(&server.name).cloned());
        let memory = match caller {
            Identity::Main => self.live().memory.clone(),
            Identity::Sub(agent) => agent.memory.clone(),
        };
        let mut policy = self.policy();
        policy.memory = memory;
        let own = caller.subagent().and_then(|agent| agent.permission_mode.as_ref());
        let mode = mode.or_else(|| own.and_then(|mode| policy.mode_for_agent(mode)));
        let Some(mode) = mode else { return policy.evaluate(call) };
        let usual = std::mem::replace(&mut policy.mode, mode);
        let verdict = policy.evaluate(call);
        policy.mode = usual;
        verdict
    }

    /// Changes the rules, in memory and, where the change says so, on disk.
    pub(crate) fn apply_permission_update(&self, update: &PermissionUpdate) {
        let applied = self.policy().apply(update);
        self.workspace.set_added_roots(self.added_directories());
        let persist = match applied {
            Ok(persist) => persist,
            Err(error) => {
                tracing::warn!(%error, "a permission update was not applied");
                return;
            }
        };
        if let Some(persist) = persist {
            let Some(path) = self.settings_file(&persist.destination) else { return };
            if let Err(error) = write_settings(&path, &persist.update) {
                tracing::warn!(%error, path = %path.display(), "a permission rule was not saved");
            }
            self.note_settings_file(&path);
        }
    }

    fn settings_file(&self, destination: &UpdateDestination) -> Option<PathBuf> {
        let places = &self.config.places;
        match destination {
            UpdateDestination::UserSettings => Some(places.user_file()),
            UpdateDestination::ProjectSettings => self.project_settings(places.project_file()),
            UpdateDestination::LocalSettings => self.project_settings(places.local_file()),
            _ => None,
        }
    }

    /// A settings file of the project, unless a project that is not trusted has made a link of it
    /// to another file: perhaps to the user's own settings.
    fn project_settings(&self, path: PathBuf) -> Option<PathBuf> {
        let admitted = self.standing.admits_new(&path);
        if !admitted {
            tracing::warn!(path = %path.display(), "a link out of the project is not written to");
        }
        admitted.then_some(path)
    }

    /// Where the plan of plan mode is written.
    pub(crate) fn plan_file(&self) -> Option<PathBuf> {
        self.policy().plan_file.clone()
    }

    /// The plan, if one was written.
    pub(crate) fn plan(&self) -> Option<String> {
        std::fs::read_to_string(self.plan_file()?).ok().filter(|plan| !plan.trim().is_empty())
    }

    pub(crate) fn enter_plan_mode(&self) {
        let before = std::mem::replace(&mut self.policy().mode, PermissionMode::Plan);
        if before != PermissionMode::Plan {
            self.live().mode_before_plan = Some(before);
        }
    }

    /// Goes back to the mode before plan mode.
    pub(crate) fn leave_plan_mode(&self) {
        let before = self.live().mode_before_plan.take();
        self.policy().mode = before.unwrap_or(PermissionMode::Default);
    }
}
