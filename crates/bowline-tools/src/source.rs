//! Sources of tools that change while a session runs, such as MCP servers.

use std::sync::Arc;

use bowline_protocol::McpServerRef;

use crate::tool::Tool;

/// A changing set of tools.
pub trait ToolSource: Send + Sync + 'static {
    /// The tools now.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// Changes whenever the tools do.
    fn version(&self) -> u64;

    /// The server that a tool lives in.
    fn server_of(&self, tool: &str) -> Option<McpServerRef>;

    /// What a person calls the tool and its server.
    fn display_name(&self, tool: &str) -> Option<ToolDisplayName>;
}

/// What a person calls a tool of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDisplayName {
    /// The tool's title, or its name on the server.
    pub tool: String,
    /// The tool's name on the server.
    pub tool_name: String,
    /// The server's title, or its name.
    pub server: String,
}
