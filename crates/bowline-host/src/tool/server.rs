//! An MCP server inside this program: a name and its tools.

use std::{collections::HashSet, sync::Arc};

use serde_json::Value;

use super::{Tool, rpc::Calls};
use crate::Error;

/// An MCP server inside this program.
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
    pub(super) calls: Arc<Calls>,
}

impl McpServer {
    /// A server without tools.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: "1.0.0".to_owned(),
            instructions: None,
            tools: Vec::new(),
            calls: Arc::default(),
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

    /// Adds a tool. Two of the same name are an error when the agent is started.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Says which version it is.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Tells the model how to use the server.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Says what is wrong with its tools.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong =
            |what: String| Err(Error::Options(format!("MCP server `{}`: {what}", self.name)));
        if self.name.is_empty() {
            return wrong("it has no name".to_owned());
        }
        let mut names = HashSet::new();
        for tool in &self.tools {
            if !names.insert(tool.name()) {
                return wrong(format!("two tools are named `{}`", tool.name()));
            }
            if tool.listed.input_schema.get("type") != Some(&Value::from("object")) {
                return wrong(format!("the arguments of `{}` are no object", tool.name()));
            }
        }
        Ok(())
    }
}
