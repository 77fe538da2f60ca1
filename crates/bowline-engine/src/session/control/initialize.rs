//! The first question of a host: it brings its hooks, servers and agents, and hears what there is.

use std::{collections::BTreeMap, sync::Arc};

use bowline_mcp::{NamedServer, Scope};
use bowline_protocol::{
    HookEvent, HookFailure, HookMatcher, Initialize, ManifestOutcome, McpSdkServer,
    McpServerConfig, McpServerStatus, PluginSource, UserMessage,
};

use super::{Answered, ControlError, ControlReply};
use crate::{
    catalog, plugin::PluginRequest, plugin_reload, session::opening,
    session_context::SessionContext,
};

pub(super) async fn initialize(shared: &Arc<SessionContext>, request: Initialize) -> Answered {
    // What hooks say at the start goes out before the answer.
    shared.turn.started.cancelled().await;
    if let Some(schema) = &request.json_schema {
        bowline_tools::check_is_schema(&schema.to_value()).map_err(|error| {
            ControlError::new(format!("the JSON schema for results is not valid: {error}"))
        })?;
    }
    let again = shared.host.update(|host| std::mem::replace(&mut host.initialized, true));
    // Asked again without hooks, those of before stay.
    let hooks = request.hooks.as_ref();
    if let Some(hooks) = hooks {
        shared.hooks.registry().set_callbacks(hooks);
        shared.watch.start();
        shared.pending.set_strict_hooks(of_unknown_strictness(hooks));
    }
    let hooks_applied = (hooks.is_some() || again).then_some(true);
    let managed = request.managed_settings.as_ref();
    let managed_settings_applied = managed.map(|_| shared.config.managed_by_host && !again);
    let manifests = request.sdk_mcp_server_manifests.as_ref();
    // The handshake itself is asked for, so what would have stood in for it is not needed.
    let manifests_parked = manifests.map(|manifests| {
        let outcome = |name: &String| (name.clone(), ManifestOutcome::NotHonored);
        manifests.keys().map(outcome).collect()
    });
    add_servers(shared, &request);
    let plugins_applied = take_plugins(shared, request.plugins.as_deref()).await;
    let title = request.title.clone();
    apply(shared, request, again);
    if let Some(title) = title {
        shared.title.announce(title).await;
    }
    let first_prompt = match again {
        true => None,
        false => {
            opening::adopt_main_agent(shared);
            opening::initial_prompt(shared)
        }
    };
    greet_servers(shared).await;
    let mut response = catalog::initialize_response(shared);
    response.hooks_applied = hooks_applied;
    response.plugins_applied = plugins_applied;
    response.managed_settings_applied = managed_settings_applied;
    response.sdk_mcp_manifests_parked = manifests_parked;
    let reply = ControlReply::payload(&response);
    let shared = Arc::clone(shared);
    Ok(reply.then(async move {
        shared.servers.changed();
        if let Some(prompt) = first_prompt {
            shared.queue.push(UserMessage::prompt(prompt));
        }
        // For that prompt, and for a call that was put off until the host's hooks are there.
        shared.turn.wake.notify_one();
        if again {
            shared.tasks.announce();
            shared.sink.flush().await;
        }
    }))
}

/// Applies what the host announces. The schema of results stays as the first `initialize` set it.
fn apply(shared: &SessionContext, request: Initialize, again: bool) {
    if let Some(title) = &request.title {
        shared.journal.note(shared.title.line(title));
        shared.title.replace(Some(title.clone()));
    }
    if let Some(schema) = request.json_schema.as_ref().filter(|_| !again) {
        shared.output.set_schema(schema.to_value());
    }
    shared.host.apply(request);
    shared.pending.tools_changed();
}

/// The events with hooks whose failure is to mean something that this version does not know.
fn of_unknown_strictness(hooks: &BTreeMap<HookEvent, Vec<HookMatcher>>) -> Vec<HookEvent> {
    let unknown = |matcher: &HookMatcher| matches!(matcher.on_failure, Some(HookFailure::Other(_)));
    let events = hooks.iter().filter(|(_, matchers)| matchers.iter().any(unknown));
    events.map(|(event, _)| event.clone()).collect()
}

/// Loads the plugins that the host brings; whether that was done, if there are any.
async fn take_plugins(shared: &SessionContext, plugins: Option<&[PluginSource]>) -> Option<bool> {
    let plugins = plugins.filter(|plugins| !plugins.is_empty())?;
    let cwd = &shared.config.cwd;
    let requests = plugins.iter().map(|source| PluginRequest::of_host(source, cwd));
    plugin_reload::replace(shared, shared.plugins.get().with(requests)).await;
    Some(true)
}

/// Registers the servers inside the host.
fn add_servers(shared: &SessionContext, request: &Initialize) {
    let configs = request.sdk_mcp_server_configs.as_ref();
    for name in request.sdk_mcp_servers.iter().flatten() {
        let settings = configs.and_then(|configs| configs.get(name));
        let config = McpServerConfig::Sdk(McpSdkServer {
            name: name.clone(),
            timeout: settings.and_then(|settings| settings.timeout.clone()),
            tools: settings.and_then(|settings| settings.tools.clone()),
            ..McpSdkServer::default()
        });
        shared.permissions.set_server_policy(name, &config);
        shared.mcp.add(NamedServer { name: name.clone(), config, scope: Scope::Dynamic });
    }
    shared.permissions.apply_server_policies();
}

/// Says hello to servers inside the host that were not greeted: hosts expect that before the answer.
async fn greet_servers(shared: &SessionContext) {
    let is_new = |server: &bowline_protocol::McpServerState| {
        server.transport.as_deref() == Some("sdk") && server.status == McpServerStatus::Pending
    };
    if shared.mcp.status().iter().any(is_new) {
        shared.mcp.greet_sdk_servers().await;
    }
}
