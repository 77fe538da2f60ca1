//! Control requests that reload plugins, skills and output styles.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use bowline_protocol::{
    PluginSource, RawJson, ReloadOutputStylesResponse, ReloadPlugins, ReloadPluginsResponse,
    ReloadSkillsResponse, SlashCommand,
};
use serde::Serialize;

use super::{ControlError, ControlReply, ControlResult};
use crate::{
    context,
    plugin::{PluginRequest, Plugins},
    plugin_reload,
    session_context::SessionContext,
};

/// The error while a turn runs or is queued.
const BUSY: &str = "The session is busy, so plugins were not reloaded. Ask again once it is idle.";

/// The error for invalid plugins.
const BAD_PLUGINS: &str = "reload_plugins add_plugins must be a list of { type: \"local\", path } \
                           entries with absolute paths";

/// Reads the plugins again, and more if the host names some.
pub(super) async fn reload_plugins(
    context: &Arc<SessionContext>,
    request: ReloadPlugins,
) -> ControlResult {
    let busy = || {
        context.turn.is_busy() || !context.queue.is_empty() || context.tasks.has_background_agents()
    };
    if request.refuse_if_busy == Some(true) && busy() {
        return Err(ControlError::coded(BUSY, "reload_plugins_busy"));
    }
    let added: Vec<PluginSource> = match request.add_plugins {
        Some(added) => added.parse().map_err(|_| ControlError::new(BAD_PLUGINS))?,
        None => Vec::new(),
    };
    let fits =
        |source: &PluginSource| source.r#type == "local" && Path::new(&source.path).is_absolute();
    if !added.iter().all(fits) {
        return Err(ControlError::new(BAD_PLUGINS));
    }
    let cwd = &context.config.cwd;
    let added = added.iter().map(|source| PluginRequest::of_host(source, cwd));
    let reloaded = context.plugins.get().with(added);
    let impact = match request.hold_on_cache_impact {
        Some(true) => cache_impact(context, &reloaded),
        _ => None,
    };
    if impact.is_none() {
        plugin_reload::reload(context, reloaded).await;
    }
    let held = request.hold_on_cache_impact.filter(|&hold| hold).map(|_| impact.is_some());
    let plugins = context.plugins.get();
    Ok(ControlReply::payload(&ReloadPluginsResponse {
        held,
        cache_impact: impact.as_ref().and_then(raw),
        commands: context.commands.all(),
        agents: context.kinds.infos(),
        plugins: plugins.infos().iter().filter_map(raw).collect(),
        mcp_servers: context.mcp.status().iter().filter_map(raw).collect(),
        error_count: plugins.problems.len() as u64,
        ..ReloadPluginsResponse::default()
    }))
}

/// The changes of a reload to the tools of a running conversation. The API's prompt cache is lost
/// when the tools change.
fn cache_impact(context: &SessionContext, reloaded: &Plugins) -> Option<CacheImpact> {
    if context.usage.ledger().by_model().is_empty() {
        return None;
    }
    let servers = |plugins: &Plugins| -> BTreeSet<String> {
        plugins.servers().map(|server| server.name.clone()).collect()
    };
    let (before, after) = (servers(&context.plugins.get()), servers(reloaded));
    let impact = CacheImpact {
        mcp_servers_added: after.difference(&before).cloned().collect(),
        mcp_servers_removed: before.difference(&after).cloned().collect(),
        lsp_tool_change: None,
    };
    (before != after).then_some(impact)
}

/// The changes of a pending reload to the tools.
#[derive(Serialize)]
struct CacheImpact {
    mcp_servers_added: Vec<String>,
    mcp_servers_removed: Vec<String>,
    /// There is no such tool.
    lsp_tool_change: Option<String>,
}

pub(super) fn reload_skills(context: &Arc<SessionContext>) -> ControlResult {
    context.commands.reload();
    let names = context.commands.skill_names();
    let is_skill = |command: &SlashCommand| {
        let aliases = command.aliases.iter().flatten();
        aliases.chain([&command.name]).any(|name| names.contains(name))
    };
    let skills = context.commands.list().into_iter().filter(is_skill).collect();
    Ok(ControlReply::payload(&ReloadSkillsResponse { skills, ..ReloadSkillsResponse::default() }))
}

pub(super) fn reload_output_styles(context: &Arc<SessionContext>) -> ControlResult {
    let available_output_styles = context::output_style_names(context);
    let unsent = ReloadOutputStylesResponse::default();
    Ok(ControlReply::payload(&ReloadOutputStylesResponse { available_output_styles, ..unsent }))
}

fn raw(value: &impl Serialize) -> Option<RawJson> {
    RawJson::from_value(value).ok()
}
