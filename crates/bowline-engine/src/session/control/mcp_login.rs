//! Control requests that log in to MCP servers, and out. The host opens the login page for the user.

use std::sync::Arc;

use bowline_protocol::{
    McpAuthenticate, McpAuthenticateResponse, McpClearAuth, McpOauthCallbackUrl,
};
use serde_json::json;

use super::{ControlReply, ControlResult};
use crate::session_context::SessionContext;

pub(super) async fn mcp_authenticate(
    context: &Arc<SessionContext>,
    request: McpAuthenticate,
) -> ControlResult {
    let redirect_uri = request.redirect_uri.as_deref();
    let page = context.mcp.begin_login(&request.server_name, redirect_uri).await?;
    let scheme = if page.callback_port.is_some() { "localhost" } else { "custom" };
    Ok(ControlReply::payload(&McpAuthenticateResponse {
        auth_url: Some(page.url),
        requires_user_action: true,
        callback_expected: Some(true),
        redirect_scheme: Some(scheme.to_owned()),
        state: Some(page.state),
        callback_port: page.callback_port,
        ..McpAuthenticateResponse::default()
    }))
}

pub(super) async fn mcp_oauth_callback_url(
    context: &Arc<SessionContext>,
    request: McpOauthCallbackUrl,
) -> ControlResult {
    context.mcp.finish_login(&request.server_name, &request.callback_url).await?;
    context.servers.changed();
    Ok(ControlReply::ack())
}

pub(super) async fn mcp_clear_auth(
    context: &Arc<SessionContext>,
    request: McpClearAuth,
) -> ControlResult {
    context.mcp.clear_login(&request.server_name).await?;
    Ok(ControlReply::payload(&json!({})))
}
