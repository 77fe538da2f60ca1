//! Tools of this program as an embedded engine calls them, without JSON-RPC.

use std::sync::Arc;

use bowline_engine::{CallLimits, InProcessServer, ServerTool};
use bowline_protocol::McpServerInfo;
use bowline_tools::{
    Access, Tool as EngineTool, ToolCall, ToolFailure, ToolOutput, ToolSpec, Workspace,
};
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::Notify;

use crate::{
    responder::Responder,
    tool::{DirectCall, McpServer, Tool},
};

/// A server of tools as the engine takes it over.
pub(super) fn in_process(
    server: &McpServer,
    limits: &CallLimits,
    callbacks: &Arc<Responder>,
) -> InProcessServer {
    let info = McpServerInfo {
        name: server.name().to_owned(),
        version: server.own_version().to_owned(),
        ..McpServerInfo::default()
    };
    let tools = server.tools().iter().map(|tool| ServerTool {
        listing: tool.listing().clone(),
        tool: Arc::new(EmbeddedTool {
            spec: limits.spec(tool.listing()),
            server: server.name().to_owned(),
            tool: tool.clone(),
            limits: limits.clone(),
            callbacks: Arc::clone(callbacks),
        }),
    });
    let mut served = InProcessServer::new(info, tools.collect());
    served.instructions = server.own_instructions().map(str::to_owned);
    served
}

/// A tool of this program.
struct EmbeddedTool {
    spec: ToolSpec,
    server: String,
    tool: Tool,
    limits: CallLimits,
    callbacks: Arc<Responder>,
}

impl EmbeddedTool {
    async fn call(&self, call: ToolCall) -> Result<ToolOutput, ToolFailure> {
        let ToolCall { id, input, workspace, .. } = call;
        let arguments = match input {
            Value::Object(_) => input,
            _ => Value::Object(Default::default()),
        };
        let progress = Arc::new(Notify::new());
        let call = DirectCall { id, arguments, progress: Arc::clone(&progress) };
        let work = self.callbacks.call_tool(&self.server, &self.tool, call);
        let (name, results_dir) = (self.tool.name(), workspace.results_dir());
        self.limits.run(name, &self.spec, results_dir, &progress, work).await
    }
}

impl EngineTool for EmbeddedTool {
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
