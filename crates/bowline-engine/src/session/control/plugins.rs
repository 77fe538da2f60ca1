//! Looking again for plugins, skills and output styles.

use std::sync::Arc;

use bowline_protocol::{
    RawJson, ReloadOutputStylesResponse, ReloadPlugins, ReloadPluginsResponse, ReloadSkillsResponse,
};
use serde_json::json;

use super::{Answered, ControlError, ControlReply};
use crate::{
    command,
    session::{Shared, catalog},
    subagent,
};

/// There are no plugins yet, but commands, skills and agents in files are looked for again.
pub(super) fn reload_plugins(shared: &Arc<Shared>, request: ReloadPlugins) -> Answered {
    if request.refuse_if_busy == Some(true) && shared.is_busy() {
        return Err(ControlError::coded("a turn is running", "reload_plugins_busy"));
    }
    let unknown = request.add_plugins.map_or(0, |plugins| match plugins.to_value() {
        serde_json::Value::Array(plugins) => plugins.len() as u64,
        _ => 1,
    });
    command::reload(shared);
    let servers = shared.mcp.status();
    let server = |server: &bowline_protocol::McpServerState| {
        RawJson::from(json!({"name": server.name, "status": server.status}))
    };
    Ok(ControlReply::payload(&ReloadPluginsResponse {
        commands: catalog::commands(shared),
        agents: subagent::infos(shared),
        mcp_servers: servers.iter().map(server).collect(),
        error_count: unknown,
        ..ReloadPluginsResponse::default()
    }))
}

pub(super) fn reload_skills(shared: &Arc<Shared>) -> Answered {
    command::reload(shared);
    let names = command::skill_names(shared);
    let commands = command::list(shared).into_iter();
    let skills = commands.filter(|command| names.contains(&command.name)).collect();
    Ok(ControlReply::payload(&ReloadSkillsResponse { skills, ..ReloadSkillsResponse::default() }))
}

pub(super) fn reload_output_styles(shared: &Arc<Shared>) -> Answered {
    let available_output_styles = command::output_styles(shared);
    let unsent = ReloadOutputStylesResponse::default();
    Ok(ControlReply::payload(&ReloadOutputStylesResponse { available_output_styles, ..unsent }))
}
