//! Looking again for plugins, skills and output styles.

use std::{sync::Arc, time::Duration};

use bowline_protocol::{
    PluginSource, RawJson, ReloadOutputStylesResponse, ReloadPlugins, ReloadPluginsResponse,
    ReloadSkillsResponse,
};
use serde::Serialize;

use super::{Answered, ControlError, ControlReply};
use crate::{
    command,
    plugin::PluginRequest,
    session::{Shared, catalog},
    subagent,
};

/// How long the answer waits for servers that plugins bring.
const SERVER_PATIENCE: Duration = Duration::from_secs(5);

/// Reads the plugins again, and more if the host names some.
pub(super) async fn reload_plugins(shared: &Arc<Shared>, request: ReloadPlugins) -> Answered {
    if request.refuse_if_busy == Some(true) && shared.is_busy() {
        return Err(ControlError::coded("a turn is running", "reload_plugins_busy"));
    }
    let added: Vec<PluginSource> = match request.add_plugins {
        Some(added) => added.parse().map_err(|error| {
            ControlError::new(format!("`add_plugins` is no list of plugins: {error}"))
        })?,
        None => Vec::new(),
    };
    let cwd = &shared.config.cwd;
    let added = added.iter().map(|source| PluginRequest::of_host(source, cwd));
    shared.change_plugins(|plugins| plugins.with(added)).await;
    shared.outlet.flush().await;
    shared.mcp.wait_ready(SERVER_PATIENCE).await;
    let plugins = shared.plugins();
    Ok(ControlReply::payload(&ReloadPluginsResponse {
        commands: catalog::commands(shared),
        agents: subagent::infos(shared),
        plugins: plugins.infos().iter().filter_map(raw).collect(),
        mcp_servers: shared.mcp.status().iter().filter_map(raw).collect(),
        error_count: plugins.problems.len() as u64,
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

fn raw(value: &impl Serialize) -> Option<RawJson> {
    RawJson::from_value(value).ok()
}
