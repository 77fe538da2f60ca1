//! Permission requests to a tool of an MCP server (`--permission-prompt-tool mcp__…`).

use std::sync::Arc;

use bowline_protocol::PermissionResult;
use bowline_tools::ToolCall;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::pipeline::{CallContext, Proposed};
use crate::{host::HostError, toolset::Toolset};

/// Calls the tool and reads its text as a permission result.
pub(crate) async fn call_prompt_tool(
    context: &CallContext,
    name: &str,
    proposed: &Proposed,
) -> Result<PermissionResult, HostError> {
    let tool = context.tools.find(name).map_err(|_| {
        let why = not_found(name, &context.tools);
        context.session.turn.fail(why.clone());
        HostError::Refused(why)
    })?;
    let input = json!({
        "tool_name": proposed.call.name,
        "input": proposed.input,
        "tool_use_id": proposed.call.id,
    });
    let call = ToolCall {
        id: proposed.call.id.clone(),
        input,
        workspace: Arc::clone(&context.workspace),
        cancel: CancellationToken::new(),
        confinement: None,
    };
    let output = bowline_tools::run(&*tool, call)
        .await
        .map_err(|failure| HostError::Refused(failure.content))?;
    PermissionResult::parse(&output.content.to_text())
        .map_err(|error| HostError::Malformed(error.to_string()))
}

/// The error for a prompt tool that does not exist, with the tools that do. It ends the session:
/// without the tool, no permission could ever be granted. SDKs know this text.
fn not_found(name: &str, tools: &Toolset) -> String {
    let available: Vec<_> = tools.source().map(|source| source.tools()).unwrap_or_default();
    let available: Vec<_> = available.iter().map(|tool| tool.spec().name.as_ref()).collect();
    let available = if available.is_empty() { "none".to_owned() } else { available.join(", ") };
    format!(
        "MCP tool {name} (passed via --permission-prompt-tool) not found. Available MCP tools: \
         {available}"
    )
}
