//! Which options do not go together.

use super::{Options, Resume};
use crate::Error;

impl Options {
    /// Says what does not go together, before anything is started.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |what: &str| Err(Error::Options(what.to_owned()));
        if self.can_use_tool.is_some() && self.permission_prompt_tool.is_some() {
            return wrong("either `can_use_tool` or `permission_prompt_tool` decides, not both");
        }
        if let Some(model) = &self.model
            && self.fallback_models.contains(model)
        {
            return wrong("a model cannot take over from itself: `fallback_models` has `model`");
        }
        if self.resume == Resume::No {
            let needs = [
                ("fork_session", self.fork_session),
                ("resume_session_at", self.resume_session_at.is_some()),
                ("resume_drops_turn", self.resume_drops_turn.is_some()),
            ];
            if let Some((option, _)) = needs.iter().find(|(_, set)| *set) {
                return wrong(&format!("`{option}` needs `resume`"));
            }
        }
        if let Some(cwd) = &self.cwd
            && !cwd.is_dir()
        {
            return wrong(&format!("the working directory {} is not there", cwd.display()));
        }
        if let Some(name) = self.extra_args.keys().find(|name| name.starts_with('-')) {
            return wrong(&format!("`extra_args` are named without dashes: {name}"));
        }
        if let Some(name) =
            self.mcp_servers.keys().find(|it| self.sdk_mcp_servers.contains_key(*it))
        {
            return wrong(&format!("two MCP servers are named `{name}`"));
        }
        self.sdk_mcp_servers.values().try_for_each(crate::tool::McpServer::check)
    }
}
