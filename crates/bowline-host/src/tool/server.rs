//! MCP servers inside this program, as the options name them.

use std::{collections::BTreeMap, time::Duration};

use bowline_protocol::{McpSdkServer, McpServerConfig, McpToolPolicy, SdkMcpServerConfig};
use serde_json::Number;

#[cfg(feature = "rmcp")]
use super::RmcpServer;
use super::Tool;
use crate::Error;

/// A server inside this program: one of [`Tool`]s, or, with the feature `rmcp`, any that is
/// written with that crate.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SdkServer {
    /// Tools.
    Tools(McpServer),
    /// A server of `rmcp`, which may have resources and prompts and send notifications.
    #[cfg(feature = "rmcp")]
    Rmcp(RmcpServer),
}

impl SdkServer {
    /// Its name: the `calc` of `mcp__calc__add`.
    pub fn name(&self) -> &str {
        match self {
            Self::Tools(server) => server.name(),
            #[cfg(feature = "rmcp")]
            Self::Rmcp(server) => server.name(),
        }
    }

    /// How long the agent waits for a call, if that is set.
    fn time_limit(&self) -> Option<Duration> {
        match self {
            Self::Tools(server) => server.time_limit,
            #[cfg(feature = "rmcp")]
            Self::Rmcp(server) => server.time_limit,
        }
    }

    /// Configuration of the server in `initialize` beside its name, if any.
    pub(crate) fn settings(&self) -> Option<SdkMcpServerConfig> {
        let timeout = self.time_limit().and_then(|limit| Number::from_u128(limit.as_millis()));
        let decided = self.known_tools().iter().filter(|tool| tool.policy.is_some());
        let decided: Vec<_> = decided
            .map(|tool| McpToolPolicy {
                name: tool.name().to_owned(),
                permission_policy: tool.policy.clone(),
                ..McpToolPolicy::default()
            })
            .collect();
        let tools = (!decided.is_empty()).then_some(decided);
        let settings = SdkMcpServerConfig { timeout, tools, ..SdkMcpServerConfig::default() };
        (settings != SdkMcpServerConfig::default()).then_some(settings)
    }

    /// Configuration that adds the server to a running session.
    pub(crate) fn config(&self) -> (String, McpServerConfig) {
        let SdkMcpServerConfig { timeout, tools, .. } = self.settings().unwrap_or_default();
        let name = self.name().to_owned();
        let config = McpSdkServer { name: name.clone(), timeout, tools, ..McpSdkServer::default() };
        (name, McpServerConfig::Sdk(config))
    }

    /// Its tools, as far as they are known before it runs.
    fn known_tools(&self) -> &[Tool] {
        match self {
            Self::Tools(server) => server.tools(),
            #[cfg(feature = "rmcp")]
            Self::Rmcp(_) => &[],
        }
    }

    /// The names of its tools, as far as they are known before it runs.
    pub(crate) fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.known_tools().iter().map(Tool::name)
    }

    /// Checks the server's definition.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong =
            |what: String| Err(Error::Options(format!("MCP server `{}`: {what}", self.name())));
        if self.name().is_empty() {
            return wrong("it has no name".to_owned());
        }
        self.known_tools().iter().find_map(Tool::problem).map_or(Ok(()), wrong)
    }
}

impl From<McpServer> for SdkServer {
    fn from(server: McpServer) -> Self {
        Self::Tools(server)
    }
}

#[cfg(feature = "rmcp")]
impl From<RmcpServer> for SdkServer {
    fn from(server: RmcpServer) -> Self {
        Self::Rmcp(server)
    }
}

/// The MCP servers of a session that runs: [`Client::set_mcp_servers`](crate::Client::set_mcp_servers).
#[derive(Debug, Clone, Default)]
pub struct McpServers {
    pub(crate) elsewhere: BTreeMap<String, McpServerConfig>,
    pub(crate) here: Vec<SdkServer>,
}

impl McpServers {
    /// Adds one inside this program.
    #[must_use]
    pub fn here(mut self, server: impl Into<SdkServer>) -> Self {
        self.here.push(server.into());
        self
    }

    /// Adds one elsewhere.
    #[must_use]
    pub fn elsewhere(mut self, name: impl Into<String>, server: McpServerConfig) -> Self {
        self.elsewhere.insert(name.into(), server);
        self
    }
}

impl From<BTreeMap<String, McpServerConfig>> for McpServers {
    fn from(elsewhere: BTreeMap<String, McpServerConfig>) -> Self {
        Self { elsewhere, here: Vec::new() }
    }
}

/// An MCP server inside this program that has tools.
///
/// ```
/// use bowline_host::{McpServer, Options, Tool};
///
/// let hello = Tool::new("hello", "Greets", async |name: Name| format!("Hello, {}!", name.name));
/// let options = Options::default()
///     .sdk_mcp_server(McpServer::new("greeter").tool(hello))
///     .allow(["mcp__greeter__hello"]);
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Name {
///     name: String,
/// }
/// ```
#[derive(Debug, Clone)]
pub struct McpServer {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) instructions: Option<String>,
    pub(super) tools: Vec<Tool>,
    time_limit: Option<Duration>,
}

impl McpServer {
    /// A server without tools.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: "1.0.0".to_owned(),
            instructions: None,
            tools: Vec::new(),
            time_limit: None,
        }
    }

    /// Its name: the `calc` of `mcp__calc__add`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its tools.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Its version.
    #[cfg(feature = "embedded")]
    pub(crate) fn own_version(&self) -> &str {
        &self.version
    }

    /// How the model should use it.
    #[cfg(feature = "embedded")]
    pub(crate) fn own_instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Gives it another name, for instance because two libraries call theirs the same.
    ///
    /// ```
    /// use bowline_host::McpServer;
    ///
    /// fn calculator() -> McpServer {
    ///     McpServer::new("calculator")
    /// }
    /// assert_eq!(calculator().named("calc").name(), "calc");
    /// ```
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds a tool. Two of the same name are an error when the agent is started.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Has the model always see its tools, also where tools are otherwise searched for; for those that it
    /// has so far, as [`Tool::always_load`] does for one.
    #[must_use]
    pub fn always_load(mut self) -> Self {
        self.tools = self.tools.into_iter().map(Tool::always_load).collect();
        self
    }

    /// Sets its version.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets instructions for the model about the server.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// How long the agent waits for a call of any of its tools: `sdkMcpServerConfigs` of
    /// `initialize`. A report of progress restarts the time.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }
}
