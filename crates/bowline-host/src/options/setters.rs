//! Setters for the most used options, and for those that need wrapping.

use std::{path::PathBuf, sync::Arc};

use bowline_protocol::{AgentDefinition, HookEvent, McpServerConfig, PermissionMode};
#[cfg(feature = "sessions")]
use bowline_sessions::SessionStore;
use schemars::JsonSchema;

use super::{Options, Plugin, Resume, SettingSource, SystemPrompt};
use crate::{
    callback::{CanUseTool, HookMatcher, OnElicitation, OnRequest, OnUserDialog},
    tool::{SdkServer, schema_of_type},
};

impl Options {
    /// Sets the working directory.
    #[must_use]
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// Sets the model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.system_prompt = prompt.into();
        self
    }

    /// Adds rules for tool calls that need no approval.
    #[must_use]
    pub fn allow(mut self, rules: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_tools.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Sets the permission mode.
    #[must_use]
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = Some(mode);
        self
    }

    /// Sets the callback that decides what neither rules nor the mode decide. If its future never
    /// completes, the decision is left to others that are consulted, such as a hook.
    #[must_use]
    pub fn can_use_tool(mut self, callback: impl CanUseTool) -> Self {
        self.can_use_tool = Some(Arc::new(callback));
        self
    }

    /// Adds hooks for an event.
    #[must_use]
    pub fn hook(mut self, event: HookEvent, hooks: HookMatcher) -> Self {
        self.hooks.entry(event).or_default().push(hooks);
        self
    }

    /// Adds an MCP server in this program. The model calls them
    /// `mcp__<server>__<tool>`.
    #[must_use]
    pub fn sdk_mcp_server(mut self, server: impl Into<SdkServer>) -> Self {
        self.sdk_mcp_servers.push(server.into());
        self
    }

    /// Limits the model requests for each prompt.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Continues a session by its id.
    #[must_use]
    pub fn resume(mut self, session: impl Into<String>) -> Self {
        self.resume = Resume::Session(session.into());
        self
    }

    /// Sets the program of the agent's process.
    #[must_use]
    pub fn cli_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.process.cli_path = Some(path.into());
        self
    }

    /// Sets a variable of the agent's process.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.process.env.insert(name.into(), Some(value.into()));
        self
    }

    /// Requests a result of this type, which
    /// [`Messages::output`](crate::Messages::output) then is.
    ///
    /// ```no_run
    /// use bowline_host::{Options, query};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Verdict {
    ///     /// Whether the knot holds.
    ///     holds: bool,
    /// }
    ///
    /// # async fn run() -> Result<(), bowline_host::Error> {
    /// let options = Options::default().output::<Verdict>();
    /// let verdict: Verdict = query("Does a bowline hold?", options).output().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn output<T: JsonSchema>(mut self) -> Self {
        self.generation.output_schema = Some(schema_of_type::<T>());
        self
    }

    /// Limits the cost of the session.
    #[must_use]
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.generation.max_budget_usd = Some(dollars);
        self
    }

    /// Reads these settings files and no others.
    #[must_use]
    pub fn setting_sources(mut self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        self.settings.setting_sources = Some(sources.into_iter().collect());
        self
    }

    /// Defines a subagent: one of [`agents`](crate::SettingsOptions::agents), not the
    /// [`agent`](crate::SettingsOptions::agent) that the session itself is.
    #[must_use]
    pub fn subagent(mut self, name: impl Into<String>, agent: AgentDefinition) -> Self {
        self.settings.agents.insert(name.into(), agent);
        self
    }

    /// Loads the plugin in this folder.
    #[must_use]
    pub fn plugin(mut self, folder: impl Into<PathBuf>) -> Self {
        self.settings.plugins.push(Plugin::new(folder));
        self
    }

    /// Adds rules for tool calls that are denied.
    #[must_use]
    pub fn disallow(mut self, rules: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools.disallowed_tools.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Adds an MCP server outside of this program.
    ///
    /// ```
    /// use bowline_host::{McpRemoteServer, McpServerConfig, McpStdioServer, Options};
    ///
    /// let program = McpStdioServer { command: "knots-mcp".to_owned(), ..McpStdioServer::default() };
    /// let url = "https://mcp.example.org".to_owned();
    /// let remote = McpRemoteServer { url, ..McpRemoteServer::default() };
    /// let options = Options::default()
    ///     .mcp_server("knots", McpServerConfig::Stdio(program))
    ///     .mcp_server("ropes", McpServerConfig::Http(remote));
    /// ```
    #[must_use]
    pub fn mcp_server(mut self, name: impl Into<String>, server: McpServerConfig) -> Self {
        self.tools.mcp_servers.insert(name.into(), server);
        self
    }

    /// Sets the callback for elicitations of MCP servers.
    #[must_use]
    pub fn on_elicitation(mut self, callback: impl OnElicitation) -> Self {
        self.callbacks.on_elicitation = Some(Arc::new(callback));
        self
    }

    /// Sets the callback for dialogs of these kinds.
    #[must_use]
    pub fn on_user_dialog(
        mut self,
        kinds: impl IntoIterator<Item = impl Into<String>>,
        callback: impl OnUserDialog,
    ) -> Self {
        let kinds = kinds.into_iter().map(Into::into).collect();
        self.callbacks.on_user_dialog = Some((kinds, Arc::new(callback)));
        self
    }

    /// Sets the callback for a kind of request that has no typed callback.
    #[must_use]
    pub fn on_request(mut self, subtype: impl Into<String>, callback: impl OnRequest) -> Self {
        self.callbacks.on_request.insert(subtype.into(), Arc::new(callback));
        self
    }

    /// Sets the callback for every line that the process writes to its stderr.
    #[must_use]
    pub fn stderr(mut self, callback: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.process.stderr = Some(Arc::new(callback));
        self
    }

    /// Mirrors every transcript to a store, and resumes from there.
    #[cfg(feature = "sessions")]
    #[must_use]
    pub fn session_store(mut self, store: impl SessionStore) -> Self {
        self.session.session_store = Some(Arc::new(store));
        self
    }
}
