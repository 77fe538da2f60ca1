//! A tool of a server that is called with JSON-RPC.

use std::sync::{Arc, Weak};

use bowline_protocol::{ToolListing, ToolResult};
use bowline_tools::{Access, Tool, ToolCall, ToolFailure, ToolOutput, ToolSpec, Workspace};
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::{
    connection::{Request, RequestError},
    in_process::{interrupted, timed_out},
    result,
    server_core::Core,
    spec::{ServerTool, tool_spec},
};

/// A tool of a server.
pub(crate) struct McpTool {
    spec: ToolSpec,
    /// Its name on the server.
    name: String,
    /// The server owns its tools, so a tool must not keep the server alive.
    server: Weak<Core>,
}

impl McpTool {
    /// The tools of a server's list. Of two with one name the first is kept.
    pub(crate) fn all(server: &Arc<Core>, listings: &[ToolListing]) -> Vec<ServerTool> {
        let mut tools: Vec<ServerTool> = Vec::with_capacity(listings.len());
        for listing in listings {
            let tool = Arc::new(Self::new(server, listing));
            match tools.iter().any(|known| known.tool.spec().name == tool.spec.name) {
                true => tracing::warn!(tool = %tool.spec.name, "duplicate tool name"),
                false => tools.push(ServerTool { listing: listing.clone(), tool }),
            }
        }
        tools
    }

    fn new(server: &Arc<Core>, listing: &ToolListing) -> Self {
        Self {
            spec: tool_spec(&server.name, listing, server.session.options.max_result_chars()),
            name: listing.name.clone(),
            server: Arc::downgrade(server),
        }
    }

    async fn call(&self, call: ToolCall) -> Result<ToolOutput, ToolFailure> {
        let arguments = match call.input {
            Value::Object(arguments) => arguments,
            _ => serde_json::Map::new(),
        };
        let live = self.server.upgrade().and_then(|server| Some((server.live()?, server)));
        let Some((live, server)) = live else {
            let name = &self.spec.name;
            return Err(ToolFailure::running(format!("The MCP server of {name} is not connected")));
        };
        let name = self.name.clone();
        let request = Request::CallTool { name, arguments, tool_use_id: Some(call.id) };
        let response = live.connection.request(request, server.call_timeout()).await;
        match response.and_then(read_result) {
            Ok(result) => {
                let results_dir = call.workspace.results_dir();
                result::output(result, &server.name, results_dir, self.spec.max_result_chars).await
            }
            Err(RequestError::Closed) => Err(interrupted()),
            Err(RequestError::Timeout(limit)) => Err(timed_out(&server.name, &self.name, limit)),
            Err(RequestError::Unauthorized(wanted)) => {
                server.note_scopes(&wanted);
                let name = &server.name;
                let error = RequestError::Unauthorized(wanted);
                Err(ToolFailure::running(format!("{error}: `bowline mcp login {name}`")))
            }
            Err(error) => Err(ToolFailure::running(error.to_string())),
        }
    }
}

fn read_result(result: Value) -> Result<ToolResult, RequestError> {
    serde_json::from_value(result)
        .map_err(|error| RequestError::Undelivered(format!("invalid tool result: {error}")))
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Other
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(self.call(call))
    }
}
