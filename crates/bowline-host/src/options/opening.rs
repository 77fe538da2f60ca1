//! The `initialize` request of a session, and the responder for the agent's requests.

use std::{collections::BTreeMap, sync::Arc};

use bowline_protocol::{
    CallbackId, HookMatcher, Initialize, Maybe, McpServerMessage, PluginSource,
};
use serde_json::Number;
use tokio::sync::mpsc;

use super::{Options, Plugin, PluginDelivery, Skills, SystemPrompt, arguments::LONGEST_ARGUMENT};
use crate::{
    callback::RegisteredHooks,
    responder::{Responder, ResponderSetup},
    status::Tracker,
};

/// The `initialize` request, and the hooks under the ids in it.
pub(crate) fn opening(options: &Options) -> (Initialize, RegisteredHooks) {
    let (hooks, registered) = hooks(options);
    let mut opening = Initialize { hooks, ..Initialize::default() };
    let set = |on: bool| on.then_some(true);
    if !options.sdk_mcp_servers.is_empty() {
        let names = options.sdk_mcp_servers.iter().map(|server| server.name().to_owned());
        opening.sdk_mcp_servers = Some(names.collect());
    }
    let settings = options.sdk_mcp_servers.iter();
    let settings = settings.filter_map(|it| Some((it.name().to_owned(), it.settings()?)));
    opening.sdk_mcp_server_configs =
        Some(settings.collect()).filter(|it: &BTreeMap<_, _>| !it.is_empty());
    if !options.settings.agents.is_empty() {
        opening.agents = Some(options.settings.agents.clone());
    }
    if !options.tools.tool_aliases.is_empty() {
        opening.tool_aliases = Some(options.tools.tool_aliases.clone());
    }
    if let Some(Skills::Named(names)) = &options.settings.skills {
        opening.skills = Some(names.clone());
    }
    match &options.system_prompt {
        SystemPrompt::Text(text) if text.len() > LONGEST_ARGUMENT => {
            opening.system_prompt = Some(vec![text.clone()]);
        }
        SystemPrompt::Parts(parts) => opening.system_prompt = Some(parts.clone()),
        SystemPrompt::Preset { append, exclude_dynamic_sections } => {
            opening.append_system_prompt =
                append.clone().filter(|text| text.len() > LONGEST_ARGUMENT);
            opening.exclude_dynamic_sections = set(*exclude_dynamic_sections);
        }
        _ => {}
    }
    if let Some(schema) = &options.generation.output_schema {
        // As long as it fits, it is a flag, which older agents know as well.
        let text = schema.to_string();
        opening.json_schema = (text.len() > LONGEST_ARGUMENT).then(|| schema.clone().into());
    }
    if options.settings.plugin_delivery == PluginDelivery::Initialize
        && !options.settings.plugins.is_empty()
    {
        opening.plugins = Some(options.settings.plugins.iter().map(source).collect());
    }
    if let Some((kinds, _)) = &options.callbacks.on_user_dialog {
        opening.supported_dialog_kinds = Some(kinds.clone());
    }
    opening.system_prompt_snapshot = options.generation.system_prompt_snapshot;
    opening.append_subagent_system_prompt =
        options.generation.append_subagent_system_prompt.clone();
    opening.plan_mode_instructions = options.generation.plan_mode_instructions.clone();
    opening.title = options.session.title.clone();
    opening.forward_subagent_text = set(options.messages.forward_subagent_text);
    opening.prompt_suggestions = set(options.messages.prompt_suggestions);
    opening.agent_progress_summaries = set(options.messages.agent_progress_summaries);
    opening.per_task_stop_affordance = set(options.messages.per_task_stop_affordance);
    (opening, registered)
}

/// The responder of a session, and the messages that its MCP servers send on their own.
pub(crate) fn responder(
    options: &mut Options,
    hooks: RegisteredHooks,
    tracker: Option<Arc<Tracker>>,
) -> (Responder, mpsc::Receiver<McpServerMessage>) {
    let setup = ResponderSetup {
        can_use_tool: options.can_use_tool.clone(),
        permission_limit: options.limits.permission,
        on_elicitation: options.callbacks.on_elicitation.clone(),
        on_user_dialog: options
            .callbacks
            .on_user_dialog
            .as_ref()
            .map(|(_, callback)| callback.clone()),
        on_request: options.callbacks.on_request.clone(),
        hooks,
        servers: std::mem::take(&mut options.sdk_mcp_servers),
        session_id: options.session.session_id.clone(),
    };
    Responder::new(setup, tracker)
}

fn source(plugin: &Plugin) -> PluginSource {
    PluginSource {
        r#type: "local".to_owned(),
        path: plugin.path.display().to_string(),
        skip_mcp_discovery: plugin.skip_mcp_discovery.then_some(true),
        ..PluginSource::default()
    }
}

type Registration = Maybe<BTreeMap<bowline_protocol::HookEvent, Vec<HookMatcher>>>;

fn hooks(options: &Options) -> (Registration, RegisteredHooks) {
    let mut registered = RegisteredHooks::new();
    if options.hooks.is_empty() {
        return (Maybe::Null, registered);
    }
    let mut register = |matcher: &crate::callback::HookMatcher| {
        let ids = matcher.hooks.iter().map(|hook| {
            let id = CallbackId(format!("hook_{}", registered.len()));
            registered.insert(id.clone(), (hook.clone(), matcher.timeout));
            id
        });
        HookMatcher {
            hook_callback_ids: ids.collect(),
            matcher: matcher.matcher.clone().map_or(Maybe::Null, Maybe::Value),
            timeout: matcher.timeout.and_then(|limit| Number::from_f64(limit.as_secs_f64())),
            on_failure: matcher.on_failure.clone(),
            ..HookMatcher::default()
        }
    };
    let events = options
        .hooks
        .iter()
        .map(|(event, matchers)| (event.clone(), matchers.iter().map(&mut register).collect()));
    (Maybe::Value(events.collect()), registered)
}
