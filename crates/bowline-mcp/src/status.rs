//! Status of servers, as hosts see it.

use bowline_protocol::{
    Extra, InitMcpServer, McpRemoteServer, McpSdkServer, McpServerConfig, McpServerState,
    McpServerStatus, McpStdioServer, McpToolInfo, RawJson, StdioType, ToolAnnotations,
};
use serde_json::json;

use crate::{
    config::Scope,
    server_core::{Core, State},
};

/// A server for `mcp_status`.
pub(crate) fn state(server: &Core) -> McpServerState {
    let state = server.state();
    let failed_sdk = server.is_sdk() && state.status() == McpServerStatus::Failed;
    let scope = match server.scope {
        // The scope that hosts expect for a server that they do not have.
        _ if failed_sdk => Scope::User,
        // It comes and goes with the plugin, whose it is by its source.
        Scope::Plugin => Scope::Dynamic,
        scope => scope,
    };
    let mut status = McpServerState {
        name: server.name.clone(),
        status: state.status(),
        config: shown(&server.config),
        scope: Some(scope.as_str().to_owned()),
        source: Some(source(server).to_owned()),
        transport: Some(transport(&server.config).to_owned()),
        ..McpServerState::default()
    };
    match state {
        State::Connected(live) => {
            status.server_info = live.hello.server_info.clone();
            let tools = live.catalog.tools.iter().map(|tool| McpToolInfo {
                name: tool.name.clone(),
                description: None,
                annotations: Some(annotations(&tool.annotations)),
                extra: Extra::new(),
            });
            status.tools = Some(tools.collect());
        }
        State::Failed { error } if !failed_sdk => status.error = Some(error),
        _ => {}
    }
    status
}

/// A server for the first message of a turn.
pub(crate) fn brief(server: &Core) -> InitMcpServer {
    InitMcpServer {
        name: server.name.clone(),
        status: server.state().status(),
        source: Some(source(server).to_owned()),
        ..InitMcpServer::default()
    }
}

/// Who brought a server.
pub(crate) fn source(server: &Core) -> &'static str {
    if server.is_sdk() { "sdk" } else { server.scope.as_str() }
}

pub(crate) fn transport(config: &McpServerConfig) -> &'static str {
    match config {
        McpServerConfig::Stdio(_) => "stdio",
        McpServerConfig::Http(_) => "http",
        McpServerConfig::Sse(_) => "sse",
        McpServerConfig::Sdk(_) => "sdk",
        McpServerConfig::ClaudeAiProxy(_) => "claudeai-proxy",
        _ => "unknown",
    }
}

/// The configuration without what may be secret: environment and headers.
fn shown(config: &McpServerConfig) -> Option<McpServerConfig> {
    match config {
        McpServerConfig::Stdio(program) => Some(McpServerConfig::Stdio(McpStdioServer {
            r#type: Some(StdioType::Stdio),
            command: program.command.clone(),
            args: Some(program.args.clone().unwrap_or_default()),
            ..McpStdioServer::default()
        })),
        McpServerConfig::Http(remote) => Some(McpServerConfig::Http(address(remote))),
        McpServerConfig::Sse(remote) => Some(McpServerConfig::Sse(address(remote))),
        McpServerConfig::Sdk(McpSdkServer { .. }) => None,
        other => Some(other.clone()),
    }
}

fn address(remote: &McpRemoteServer) -> McpRemoteServer {
    McpRemoteServer { url: remote.url.clone(), ..McpRemoteServer::default() }
}

fn annotations(of: &ToolAnnotations) -> RawJson {
    let mut shown = json!({});
    for (name, hint) in [
        ("readOnly", of.read_only_hint),
        ("destructive", of.destructive_hint),
        ("openWorld", of.open_world_hint),
    ] {
        if hint == Some(true) {
            shown[name] = json!(true);
        }
    }
    RawJson::from(shown)
}
