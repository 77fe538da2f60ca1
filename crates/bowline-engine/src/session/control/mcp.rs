//! Control requests about MCP servers: their state, their set, and their tools.

use std::{sync::Arc, time::Duration};

use bowline_mcp::McpError;
use bowline_protocol::{
    McpCall, McpReadResource, McpReconnect, McpServerMessage, McpSetServers, McpStatusResponse,
    McpToggle, PermissionMode, SetMcpPermissionModeOverride, WarningResponse,
};
use bowline_tools::{Access, ToolSource};
use serde_json::Value;

use super::{ControlError, ControlReply, ControlResult};
use crate::{
    clock::since_epoch,
    identity::Identity,
    permission::{ProposedCall, Verdict},
    session_context::SessionContext,
};

impl From<McpError> for ControlError {
    fn from(error: McpError) -> Self {
        Self::new(error.to_string())
    }
}

pub(super) fn mcp_status(context: &Arc<SessionContext>) -> ControlResult {
    let mcp_servers = context.mcp.status();
    let unsent = McpStatusResponse::default();
    Ok(ControlReply::payload(&McpStatusResponse { mcp_servers, ..unsent }))
}

pub(super) async fn mcp_set_servers(
    context: &Arc<SessionContext>,
    request: McpSetServers,
) -> ControlResult {
    for (name, config) in &request.servers {
        context.permissions.set_server_policy(name, config);
    }
    let response = context.mcp.set_servers(request.servers).await;
    for name in &response.removed {
        context.permissions.remove_server_policy(name);
    }
    context.permissions.apply_server_policies();
    let context = Arc::clone(context);
    Ok(ControlReply::payload(&response).then(async move { context.servers.changed() }))
}

pub(super) async fn mcp_reconnect(
    context: &Arc<SessionContext>,
    request: McpReconnect,
) -> ControlResult {
    context.mcp.reconnect(&request.server_name).await?;
    Ok(ControlReply::ack())
}

pub(super) async fn mcp_toggle(context: &Arc<SessionContext>, request: McpToggle) -> ControlResult {
    context.mcp.set_enabled(&request.server_name, request.enabled).await?;
    context.servers.changed();
    Ok(ControlReply::ack())
}

/// A message of an unknown server is accepted: the server may just have been removed.
pub(super) fn mcp_message(
    context: &Arc<SessionContext>,
    request: McpServerMessage,
) -> ControlResult {
    context.mcp.deliver(&request.server_name, &request.message);
    Ok(ControlReply::ack())
}

pub(super) async fn mcp_call(context: &Arc<SessionContext>, request: McpCall) -> ControlResult {
    if request.input_files.is_some() || request.output_files.is_some() {
        return Err(ControlError::new("mcp_call does not take input_files or output_files"));
    }
    if !is_full_name(&request.tool) {
        let message = format!("not the full name of an MCP tool: {}", request.tool);
        return Err(ControlError::new(message));
    }
    let expires_at = request.expires_at.as_ref().and_then(|millis| millis.as_f64());
    if expires_at.is_some_and(|at| at <= since_epoch().as_secs_f64() * 1000.0) {
        return Err(ControlError::new("the call has expired"));
    }
    if request.check_permissions == Some(true) {
        check_permission(context, &request)?;
    }
    let limit = request.timeout_ms.map(Duration::from_millis);
    let result = context.mcp.call(&request.tool, request.arguments.as_ref(), limit).await?;
    Ok(ControlReply::payload(&result))
}

/// Whether a name contains both the server and the tool (`mcp__server__tool`).
fn is_full_name(tool: &str) -> bool {
    let names = tool.strip_prefix("mcp__").and_then(|names| names.split_once("__"));
    names.is_some_and(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

/// A call that needs a permission request is refused: the caller is the one who would decide.
fn check_permission(context: &SessionContext, request: &McpCall) -> Result<(), ControlError> {
    let input = request.arguments.as_ref().map_or(Value::Null, |arguments| arguments.to_value());
    let current = context.workspace.current_dir();
    let call = ProposedCall {
        tool: &request.tool,
        input: &input,
        access: &Access::Other,
        current_directory: &current,
        hook: None,
        needs_person: false,
    };
    match context.permissions.judge(
        &call,
        context.mcp.server_of(&request.tool).as_ref(),
        &Identity::Main,
    ) {
        Verdict::Allow(_) => Ok(()),
        Verdict::Deny(denial) => Err(ControlError::new(denial.message)),
        Verdict::Ask(request) => Err(ControlError::new(request.message)),
    }
}

pub(super) async fn mcp_read_resource(
    context: &Arc<SessionContext>,
    request: McpReadResource,
) -> ControlResult {
    let resource = context.mcp.read_resource(&request.server_name, &request.uri).await?;
    Ok(ControlReply::payload(&resource))
}

pub(super) fn set_mcp_permission_mode_override(
    context: &Arc<SessionContext>,
    request: SetMcpPermissionModeOverride,
) -> ControlResult {
    let SetMcpPermissionModeOverride { server_name, mode, .. } = request;
    let is_known = context.mcp.status().iter().any(|server| server.name == server_name);
    let is_set = context.permissions.has_server_mode(&server_name);
    let warning = match &mode {
        None if is_known || is_set => None,
        None => Some(format!(
            "MCP server '{server_name}' is not known; no override was present to clear."
        )),
        Some(PermissionMode::Default) if is_known => None,
        Some(PermissionMode::Default) => Some(format!(
            "MCP server '{server_name}' is not yet known; override stored but will not apply until \
             a server with that exact name connects."
        )),
        Some(PermissionMode::Auto) => Some(
            "There is no classifier here: calls that nothing allows are refused in auto mode."
                .to_owned(),
        ),
        Some(other) => {
            let message = format!("a server's mode is default, auto or null, not {other}");
            return Err(ControlError::coded(message, "invalid_mode"));
        }
    };
    context.permissions.set_server_mode(server_name, mode);
    Ok(ControlReply::payload(&WarningResponse { warning, ..WarningResponse::default() }))
}
