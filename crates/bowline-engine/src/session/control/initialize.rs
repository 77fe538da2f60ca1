//! The `initialize` request: the host brings hooks, servers and agents, and gets the catalog.

use std::{collections::BTreeMap, sync::Arc};

use bowline_mcp::{NamedServer, Scope};
use bowline_protocol::{
    HookEvent, HookFailure, HookMatcher, Initialize, ManifestOutcome, McpSdkServer,
    McpServerConfig, McpServerStatus, PluginSource, UserMessage,
};

use super::{ControlError, ControlReply, ControlResult};
use crate::{
    catalog, plugin::PluginRequest, plugin_reload, session::opening,
    session_context::SessionContext,
};

pub(super) async fn initialize(
    context: &Arc<SessionContext>,
    request: Initialize,
) -> ControlResult {
    // Messages of the start hooks are sent before the response.
    context.turn.started.cancelled().await;
    if let Some(schema) = &request.json_schema {
        bowline_tools::check_is_schema(&schema.to_value()).map_err(|error| {
            ControlError::new(format!("the JSON schema for results is not valid: {error}"))
        })?;
    }
    let again = context.host.update(|host| std::mem::replace(&mut host.initialized, true));
    // A repeated `initialize` without hooks keeps the earlier ones.
    let hooks = request.hooks.as_ref();
    if let Some(hooks) = hooks {
        context.hooks.registry().set_callbacks(hooks);
        context.watch.start();
        context.pending.set_strict_hooks(of_unknown_strictness(hooks));
    }
    let hooks_applied = (hooks.is_some() || again).then_some(true);
    let managed = request.managed_settings.as_ref();
    let managed_settings_applied = managed.map(|_| context.config.managed_by_host && !again);
    let manifests = request.sdk_mcp_server_manifests.as_ref();
    // The servers are sent `initialize` themselves, so their manifests are not used.
    let manifests_parked = manifests.map(|manifests| {
        let outcome = |name: &String| (name.clone(), ManifestOutcome::NotHonored);
        manifests.keys().map(outcome).collect()
    });
    add_servers(context, &request);
    let plugins_applied = take_plugins(context, request.plugins.as_deref()).await;
    let title = request.title.clone();
    apply(context, request, again);
    if let Some(title) = title {
        context.title.announce(title).await;
    }
    let first_prompt = match again {
        true => None,
        false => {
            opening::adopt_main_agent(context);
            opening::initial_prompt(context)
        }
    };
    connect_servers(context).await;
    let mut response = catalog::initialize_response(context);
    response.hooks_applied = hooks_applied;
    response.plugins_applied = plugins_applied;
    response.managed_settings_applied = managed_settings_applied;
    response.sdk_mcp_manifests_parked = manifests_parked;
    let reply = ControlReply::payload(&response);
    let context = Arc::clone(context);
    Ok(reply.then(async move {
        context.servers.changed();
        if let Some(prompt) = first_prompt {
            context.queue.push(UserMessage::prompt(prompt));
        }
        // For that prompt, and for deferred calls, which wait for the host's hooks.
        context.turn.wake.notify_one();
        if again {
            context.tasks.announce();
            context.sink.flush().await;
        }
    }))
}

/// Applies what the host announces. The schema of results stays as the first `initialize` set it.
fn apply(context: &SessionContext, request: Initialize, again: bool) {
    if let Some(title) = &request.title {
        context.journal.note(context.title.line(title));
        context.title.replace(Some(title.clone()));
    }
    if let Some(schema) = request.json_schema.as_ref().filter(|_| !again) {
        context.output.set_schema(schema.to_value());
    }
    context.host.apply(request);
    context.pending.tools_changed();
}

/// The events with hooks whose `on_failure` is unknown to this version.
fn of_unknown_strictness(hooks: &BTreeMap<HookEvent, Vec<HookMatcher>>) -> Vec<HookEvent> {
    let unknown = |matcher: &HookMatcher| matches!(matcher.on_failure, Some(HookFailure::Other(_)));
    let events = hooks.iter().filter(|(_, matchers)| matchers.iter().any(unknown));
    events.map(|(event, _)| event.clone()).collect()
}

/// Loads the plugins of the request; returns whether that succeeded, if there are any.
async fn take_plugins(context: &SessionContext, plugins: Option<&[PluginSource]>) -> Option<bool> {
    let plugins = plugins.filter(|plugins| !plugins.is_empty())?;
    let cwd = &context.config.cwd;
    let requests = plugins.iter().map(|source| PluginRequest::of_host(source, cwd));
    plugin_reload::replace(context, context.plugins.get().with(requests)).await;
    Some(true)
}

/// Registers the servers inside the host.
fn add_servers(context: &SessionContext, request: &Initialize) {
    let configs = request.sdk_mcp_server_configs.as_ref();
    for name in request.sdk_mcp_servers.iter().flatten() {
        let settings = configs.and_then(|configs| configs.get(name));
        let config = McpServerConfig::Sdk(McpSdkServer {
            name: name.clone(),
            timeout: settings.and_then(|settings| settings.timeout.clone()),
            tools: settings.and_then(|settings| settings.tools.clone()),
            ..McpSdkServer::default()
        });
        context.permissions.set_server_policy(name, &config);
        context.mcp.add(NamedServer { name: name.clone(), config, scope: Scope::Dynamic });
    }
    context.permissions.apply_server_policies();
}

/// Starts the handshake with new servers inside the host: hosts expect it before the response.
async fn connect_servers(context: &SessionContext) {
    let is_new = |server: &bowline_protocol::McpServerState| {
        server.transport.as_deref() == Some("sdk") && server.status == McpServerStatus::Pending
    };
    if context.mcp.status().iter().any(is_new) {
        context.mcp.greet_sdk_servers().await;
    }
}
