//! Setters for what is set most, and for what needs wrapping.

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
    /// Runs this program.
    #[must_use]
    pub fn cli_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.cli_path = Some(path.into());
        self
    }

    /// Works in this folder.
    #[must_use]
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// Sets a variable of the process.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), Some(value.into()));
        self
    }

    /// Asks this model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Asks that the result be a value of this type, which
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
        self.output_schema = Some(schema_of_type::<T>());
        self
    }

    /// Lets the model be asked so often.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Lets the session cost so much.
    #[must_use]
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.max_budget_usd = Some(dollars);
        self
    }

    /// Is as strict about tools as this mode.
    #[must_use]
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = Some(mode);
        self
    }

    /// Reads the settings of these, and of no others; of nobody, if there are none.
    #[must_use]
    pub fn setting_sources(mut self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        self.setting_sources = Some(sources.into_iter().collect());
        self
    }

    /// Lets this kind of subagent be called: one of [`agents`](Self::agents), not the
    /// [`agent`](Self::agent) that the session itself is.
    #[must_use]
    pub fn subagent(mut self, name: impl Into<String>, agent: AgentDefinition) -> Self {
        self.agents.insert(name.into(), agent);
        self
    }

    /// Loads the plugin in this folder.
    #[must_use]
    pub fn plugin(mut self, folder: impl Into<PathBuf>) -> Self {
        self.plugins.push(Plugin::new(folder));
        self
    }

    /// Tells the model this before everything else.
    #[must_use]
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.system_prompt = prompt.into();
        self
    }

    /// Allows calls without a question.
    #[must_use]
    pub fn allow(mut self, rules: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_tools.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Refuses calls.
    #[must_use]
    pub fn disallow(mut self, rules: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.disallowed_tools.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Lends the agent the tools of a server in this program. The model calls them
    /// `mcp__<server>__<tool>`.
    #[must_use]
    pub fn sdk_mcp_server(mut self, server: impl Into<SdkServer>) -> Self {
        self.sdk_mcp_servers.push(server.into());
        self
    }

    /// Lends the agent an MCP server elsewhere.
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
        self.mcp_servers.insert(name.into(), server);
        self
    }

    /// Lets `decide` answer what neither rules nor the mode decide. One whose future never ends leaves the
    /// answer to whoever else is asked, such as a hook.
    #[must_use]
    pub fn can_use_tool(mut self, decide: impl CanUseTool) -> Self {
        self.can_use_tool = Some(Arc::new(decide));
        self
    }

    /// Adds hooks for some occasions of an event.
    #[must_use]
    pub fn hook(mut self, event: HookEvent, hooks: HookMatcher) -> Self {
        self.hooks.entry(event).or_default().push(hooks);
        self
    }

    /// Lets `answer` answer MCP servers in the user's place.
    #[must_use]
    pub fn on_elicitation(mut self, answer: impl OnElicitation) -> Self {
        self.on_elicitation = Some(Arc::new(answer));
        self
    }

    /// Lets `answer` show dialogs of these kinds to the user.
    #[must_use]
    pub fn on_user_dialog(
        mut self,
        kinds: impl IntoIterator<Item = impl Into<String>>,
        answer: impl OnUserDialog,
    ) -> Self {
        let kinds = kinds.into_iter().map(Into::into).collect();
        self.on_user_dialog = Some((kinds, Arc::new(answer)));
        self
    }

    /// Lets `answer` answer a kind of request that has no callback of its own.
    #[must_use]
    pub fn on_request(mut self, subtype: impl Into<String>, answer: impl OnRequest) -> Self {
        self.on_request.insert(subtype.into(), Arc::new(answer));
        self
    }

    /// Tells `hear` every line that the process writes to its stderr.
    #[must_use]
    pub fn stderr(mut self, hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.stderr = Some(Arc::new(hear));
        self
    }

    /// Keeps a copy of every transcript in a store, and resumes from there.
    #[cfg(feature = "sessions")]
    #[must_use]
    pub fn session_store(mut self, store: impl SessionStore) -> Self {
        self.session_store = Some(Arc::new(store));
        self
    }

    /// Continues a conversation by its id.
    #[must_use]
    pub fn resume(mut self, session: impl Into<String>) -> Self {
        self.resume = Resume::Session(session.into());
        self
    }
}
