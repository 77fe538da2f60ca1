//! Names of tools in rules: old names, and patterns of MCP tools.

use bowline_protocol::PermissionBehavior;

/// The name under which a tool is known today.
pub fn canonical_tool(name: &str) -> &str {
    match name {
        "Task" => "Agent",
        "KillShell" | "KillBash" => "TaskStop",
        "AgentOutputTool" | "BashOutputTool" | "BashOutput" => "TaskOutput",
        "ListMcpResources" => "ListMcpResourcesTool",
        "ReadMcpResource" => "ReadMcpResourceTool",
        "ReadMcpResourceDir" => "ReadMcpResourceDirTool",
        name => name,
    }
}

/// Which tools a rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolPattern {
    /// This one.
    Named(String),
    /// All tools of this MCP server.
    Server(String),
    /// The tools of this MCP server whose name fits a pattern with one `*`.
    ServerTools { server: String, before: String, after: String },
    /// Every tool of every MCP server.
    AnyServer,
    /// No tool: the pattern is too wide for an allow rule.
    Nothing,
}

impl ToolPattern {
    pub(super) fn new(name: &str, behavior: &PermissionBehavior) -> Self {
        let Some(rest) = name.strip_prefix("mcp__") else {
            return Self::Named(canonical_tool(name).to_owned());
        };
        match rest.split_once("__") {
            // Allowing every server there may ever be is not something a rule can do.
            None if rest.contains('*') => match behavior {
                PermissionBehavior::Allow => Self::Nothing,
                _ => Self::AnyServer,
            },
            None => Self::Server(rest.to_owned()),
            Some((server, "*")) => Self::Server(server.to_owned()),
            Some((server, tool)) => match tool.split_once('*') {
                Some((before, after)) => Self::ServerTools {
                    server: server.to_owned(),
                    before: before.to_owned(),
                    after: after.to_owned(),
                },
                None => Self::Named(name.to_owned()),
            },
        }
    }

    pub(super) fn matches(&self, tool: &str) -> bool {
        let of_server = |server: &str| {
            let rest = tool.strip_prefix("mcp__")?.strip_prefix(server)?;
            rest.strip_prefix("__")
        };
        match self {
            Self::Named(name) => name == canonical_tool(tool),
            Self::Server(server) => of_server(server).is_some(),
            Self::ServerTools { server, before, after } => of_server(server).is_some_and(|name| {
                name.len() >= before.len() + after.len()
                    && name.starts_with(before.as_str())
                    && name.ends_with(after.as_str())
            }),
            Self::AnyServer => tool.starts_with("mcp__"),
            Self::Nothing => false,
        }
    }
}
