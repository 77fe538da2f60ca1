//! Permissions of the session's calls: policy, mode, plan mode, and rules of MCP servers.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use bowline_mcp::tool_name;
use bowline_protocol::{
    McpPermissionPolicy, McpServerConfig, McpServerRef, McpToolPolicy, PermissionBehavior,
    PermissionMode, PermissionUpdate, UpdateDestination,
};
use bowline_tools::Workspace;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

use crate::{
    identity::Identity,
    permission::{EvaluationContext, Policy, ProposedCall, RuleSource, Verdict, write_settings},
    settings::{ProjectTrust, SettingsPaths},
};

/// The tool whose input contains the plan.
const EXIT_PLAN_MODE: &str = "ExitPlanMode";

/// The permissions of a session.
pub(crate) struct Permissions {
    policy: Mutex<Policy>,
    /// The mode that leaving plan mode restores.
    mode_before_plan: Mutex<Option<PermissionMode>>,
    /// Modes of single MCP servers.
    server_modes: Mutex<BTreeMap<String, PermissionMode>>,
    /// Decisions about single tools of MCP servers.
    server_policies: Mutex<BTreeMap<String, ServerPolicy>>,
    /// The memory folder of the main agent, if its kind has one.
    memory: Mutex<Option<PathBuf>>,
    places: SettingsPaths,
    trust: ProjectTrust,
}

/// Decisions about the tools of one MCP server.
#[derive(Debug, Clone, Default)]
struct ServerPolicy {
    tools: Vec<McpToolPolicy>,
    /// Whether it may allow calls without a permission request: a server inside the host may not.
    may_allow: bool,
}

impl Permissions {
    pub(crate) fn new(policy: Policy, places: SettingsPaths, trust: ProjectTrust) -> Self {
        Self {
            policy: Mutex::new(policy),
            mode_before_plan: Mutex::default(),
            server_modes: Mutex::default(),
            server_policies: Mutex::default(),
            memory: Mutex::default(),
            places,
            trust,
        }
    }

    pub(crate) fn policy(&self) -> MutexGuard<'_, Policy> {
        self.policy.lock()
    }

    pub(crate) fn mode(&self) -> PermissionMode {
        self.policy().mode.clone()
    }

    /// The working directories besides the first.
    pub(crate) fn added_directories(&self) -> Vec<PathBuf> {
        self.policy().directories().skip(1).map(Path::to_path_buf).collect()
    }

    /// The memory folder of the main agent.
    pub(crate) fn memory(&self) -> Option<PathBuf> {
        self.memory.lock().clone()
    }

    pub(crate) fn set_memory(&self, folder: Option<PathBuf>) {
        *self.memory.lock() = folder;
    }

    /// Decides about a call, by the mode that applies to the server it belongs to or to the agent
    /// that makes it.
    pub(crate) fn judge(
        &self,
        call: &ProposedCall<'_>,
        server: Option<&McpServerRef>,
        caller: &Identity,
    ) -> Verdict {
        let mode = server.and_then(|server| self.server_modes.lock().get(&server.name).cloned());
        let memory = match caller {
            Identity::Main => self.memory(),
            Identity::Sub(agent) => agent.memory.clone(),
        };
        let own = caller.subagent().and_then(|agent| agent.permission_mode.as_ref());
        let policy = self.policy();
        let mode = mode.or_else(|| own.and_then(|mode| policy.mode_for_agent(mode)));
        policy.evaluate(call, EvaluationContext { mode: mode.as_ref(), memory: memory.as_deref() })
    }

    /// Changes the rules, in memory and, where the update's destination is a file, on disk. Returns the settings file
    /// that was written.
    pub(crate) fn apply_update(
        &self,
        update: &PermissionUpdate,
        workspace: &Workspace,
    ) -> Option<PathBuf> {
        let applied = self.policy().apply(update);
        workspace.set_added_roots(self.added_directories());
        let persist = match applied {
            Ok(persist) => persist?,
            Err(error) => {
                tracing::warn!(%error, "a permission update was not applied");
                return None;
            }
        };
        let path = self.settings_file(&persist.destination)?;
        if let Err(error) = write_settings(&path, &persist.update) {
            tracing::warn!(%error, path = %path.display(), "a permission rule was not saved");
        }
        Some(path)
    }

    fn settings_file(&self, destination: &UpdateDestination) -> Option<PathBuf> {
        match destination {
            UpdateDestination::UserSettings => Some(self.places.user_file()),
            UpdateDestination::ProjectSettings => self.project_settings(self.places.project_file()),
            UpdateDestination::LocalSettings => self.project_settings(self.places.local_file()),
            _ => None,
        }
    }

    /// A settings file of the project, unless a project that is not trusted has made a link of it
    /// to another file: perhaps to the user's own settings.
    fn project_settings(&self, path: PathBuf) -> Option<PathBuf> {
        let admitted = self.trust.admits_new(&path);
        if !admitted {
            tracing::warn!(path = %path.display(), "a link out of the project is not written to");
        }
        admitted.then_some(path)
    }

    /// The file of the plan of plan mode.
    pub(crate) fn plan_file(&self) -> Option<PathBuf> {
        self.policy().plan_file.clone()
    }

    /// The plan, if one was written.
    pub(crate) fn plan(&self) -> Option<String> {
        std::fs::read_to_string(self.plan_file()?).ok().filter(|plan| !plan.trim().is_empty())
    }

    /// The input of `ExitPlanMode` as people see it: the plan is the content of the file, not
    /// what the model sends.
    pub(crate) fn with_plan(&self, tool: &str, mut input: Value) -> Value {
        if let Some(fields) = input.as_object_mut().filter(|_| tool == EXIT_PLAN_MODE) {
            fields.retain(|key, _| key != "plan");
            if let (Some(plan), Some(path)) = (self.plan(), self.plan_file()) {
                fields.insert("plan".to_owned(), plan.into());
                fields.insert("planFilePath".to_owned(), path.display().to_string().into());
            }
        }
        input
    }

    pub(crate) fn enter_plan_mode(&self) {
        let before = std::mem::replace(&mut self.policy().mode, PermissionMode::Plan);
        if before != PermissionMode::Plan {
            *self.mode_before_plan.lock() = Some(before);
        }
    }

    /// Restores the mode from before plan mode.
    pub(crate) fn leave_plan_mode(&self) {
        let before = self.mode_before_plan.lock().take();
        self.policy().mode = before.unwrap_or(PermissionMode::Default);
    }

    pub(crate) fn has_server_mode(&self, server: &str) -> bool {
        self.server_modes.lock().contains_key(server)
    }

    /// Sets the mode of one MCP server, or removes it.
    pub(crate) fn set_server_mode(&self, server: String, mode: Option<PermissionMode>) {
        let mut modes = self.server_modes.lock();
        match mode {
            Some(mode) => modes.insert(server, mode),
            None => modes.remove(&server),
        };
    }

    /// Takes the decisions about a server's tools from its configuration.
    pub(crate) fn set_server_policy(&self, name: &str, config: &McpServerConfig) {
        let (tools, may_allow) = match config {
            McpServerConfig::Sdk(server) => (&server.tools, false),
            McpServerConfig::Http(server) | McpServerConfig::Sse(server) => (&server.tools, true),
            _ => (&None, false),
        };
        let policy = ServerPolicy { tools: tools.clone().unwrap_or_default(), may_allow };
        self.server_policies.lock().insert(name.to_owned(), policy);
    }

    pub(crate) fn remove_server_policy(&self, name: &str) {
        self.server_policies.lock().remove(name);
    }

    /// Brings the rules up to date with the decisions about the tools of servers.
    pub(crate) fn apply_server_policies(&self) {
        let policies = self.server_policies.lock().clone();
        let mut policy = self.policy();
        policy.rules.clear_source(RuleSource::McpServerPolicy);
        for (server, decided) in &policies {
            for McpToolPolicy { name, permission_policy, .. } in &decided.tools {
                let behavior = match permission_policy {
                    Some(McpPermissionPolicy::AlwaysDeny) => PermissionBehavior::Deny,
                    Some(McpPermissionPolicy::AlwaysAsk) => PermissionBehavior::Ask,
                    Some(McpPermissionPolicy::AlwaysAllow) if decided.may_allow => {
                        PermissionBehavior::Allow
                    }
                    _ => continue,
                };
                let rule = tool_name(server, name);
                policy.rules.add(RuleSource::McpServerPolicy, &behavior, &rule);
            }
        }
    }
}
