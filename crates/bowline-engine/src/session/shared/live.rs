//! What can change while a session runs.

use std::{collections::BTreeMap, path::PathBuf};

use bowline_model::Thinking;
use bowline_protocol::{
    AgentDefinition, Effort, Extra, HookEvent, Initialize, McpToolPolicy, MessageUuid,
    ModelSwitchInput, PermissionDenial, PermissionMode, SessionState,
};
use bowline_sessions::CustomTitle;

use super::Shared;
use crate::{config::SessionConfig, context::style, settings::Settings};

/// What can change while a session runs.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    /// The model, as it was asked for.
    pub(crate) model: String,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) effort: Option<Effort>,
    pub(crate) title: Option<String>,
    pub(crate) output_style: String,
    /// The shape that results must have.
    pub(crate) json_schema: Option<serde_json::Value>,
    /// The prompt being worked on.
    pub(crate) prompt_id: Option<String>,
    /// The name of its line in the transcript, also if its host gave it none.
    pub(crate) prompt_line: Option<MessageUuid>,
    /// Names the turn that runs.
    pub(crate) turn_id: String,
    /// What the host announced when it connected.
    pub(crate) host: HostTraits,
    pub(crate) state: SessionState,
    /// What hooks want the model to know with the next prompt.
    pub(crate) context: Vec<String>,
    /// Agents that the host defined.
    pub(crate) agents: BTreeMap<String, AgentDefinition>,
    /// Where the main agent keeps what it learns, if its kind remembers anything.
    pub(crate) memory: Option<PathBuf>,
    /// The mode to go back to when a plan is agreed on.
    pub(crate) mode_before_plan: Option<PermissionMode>,
    /// What the main agent can call has to be put together anew.
    pub(crate) tools_changed: bool,
    /// What the main agent has yet to notice.
    pub(crate) unnoticed: Unnoticed,
    /// How strict to be about the tools of single MCP servers.
    pub(crate) server_modes: BTreeMap<String, PermissionMode>,
    /// What is decided about single tools of MCP servers.
    pub(crate) server_policies: BTreeMap<String, ServerPolicy>,
}

/// What was changed from outside and reaches the main agent with its next turn or request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unnoticed {
    /// A switch of the model that hooks have not heard of.
    pub(crate) model_switch: Option<ModelSwitchInput>,
    /// The model is of another family: it could not verify earlier reasoning.
    pub(crate) foreign_thinking: bool,
    /// Events with hooks whose failure counts as an objection, because what it is to mean is not known.
    pub(crate) strict_hooks: Vec<HookEvent>,
    /// Calls of subagents that were denied and are in no result yet.
    pub(crate) denials: Vec<PermissionDenial>,
}

/// What is decided about the tools of one MCP server.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerPolicy {
    pub(crate) tools: Vec<McpToolPolicy>,
    /// Whether it may allow what would be asked: a server inside the host may not.
    pub(crate) may_allow: bool,
}

/// What a host announces in `initialize`.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostTraits {
    pub(crate) initialized: bool,
    pub(crate) forward_subagent_text: bool,
    pub(crate) plan_mode_instructions: Option<String>,
    pub(crate) skills: Option<Vec<String>>,
    /// In place of our own system prompt.
    pub(crate) system_prompt: Option<Vec<String>>,
    /// Behind the system prompt.
    pub(crate) append_system_prompt: Option<String>,
    /// Whether facts about the place go with the first prompt rather than into the system prompt.
    pub(crate) exclude_dynamic_sections: bool,
    /// Behind the system prompt of subagents.
    pub(crate) append_subagent_system_prompt: Option<String>,
    /// Other names for tools.
    pub(crate) tool_aliases: BTreeMap<String, String>,
    /// Whether anybody watches, if that is known.
    pub(crate) has_subscribers: Option<bool>,
    /// Whether interrupting leaves background tasks alone.
    pub(crate) stops_tasks_itself: bool,
}

impl Live {
    pub(super) fn new(config: &SessionConfig) -> Self {
        Self {
            model: config.model.clone(),
            thinking: config.thinking,
            effort: config.effort,
            title: config.title.clone().or_else(|| config.resumed.as_ref()?.title.clone()),
            output_style: style_of(&config.settings),
            json_schema: config.json_schema.clone(),
            context: Vec::new(),
            agents: BTreeMap::new(),
            memory: None,
            prompt_line: None,
            mode_before_plan: None,
            tools_changed: false,
            prompt_id: None,
            turn_id: String::new(),
            host: HostTraits {
                forward_subagent_text: config.forward_subagent_text,
                exclude_dynamic_sections: config.exclude_dynamic_sections,
                ..HostTraits::default()
            },
            state: SessionState::Idle,
            unnoticed: Unnoticed::default(),
            server_modes: BTreeMap::new(),
            server_policies: BTreeMap::new(),
        }
    }
}

impl Shared {
    /// What a host brings when it connects. What it brings again replaces what it brought; the rest
    /// stays, and so does the shape of results.
    pub(crate) fn take_up(&self, request: Initialize, again: bool) {
        if let Some(title) = &request.title {
            let (custom_title, session_id) = (title.clone(), self.id());
            self.journal.note(CustomTitle { custom_title, session_id, extra: Extra::new() });
        }
        let mut live = self.live();
        if let Some(schema) = request.json_schema.as_ref().filter(|_| !again) {
            live.json_schema = Some(schema.to_value());
        }
        if let Some(title) = request.title {
            live.title = Some(title);
        }
        live.host.forward_subagent_text |= request.forward_subagent_text == Some(true);
        live.host.stops_tasks_itself |= request.per_task_stop_affordance == Some(true);
        replace(&mut live.host.plan_mode_instructions, request.plan_mode_instructions);
        replace(&mut live.host.skills, request.skills);
        replace(&mut live.host.system_prompt, request.system_prompt);
        replace(&mut live.host.append_system_prompt, request.append_system_prompt);
        live.host.exclude_dynamic_sections |= request.exclude_dynamic_sections == Some(true);
        let append_for_subagents = request.append_subagent_system_prompt;
        replace(&mut live.host.append_subagent_system_prompt, append_for_subagents);
        live.agents.extend(request.agents.unwrap_or_default());
        live.tools_changed = true;
        if let Some(aliases) = request.tool_aliases {
            live.host.tool_aliases = aliases;
        }
    }
}

/// Puts what was brought in the place of what was there, if anything was.
fn replace<T>(place: &mut Option<T>, brought: Option<T>) {
    if brought.is_some() {
        *place = brought;
    }
}

/// The manner of answering that the settings want.
fn style_of(settings: &Settings) -> String {
    settings.known().output_style.clone().unwrap_or_else(|| style::DEFAULT.to_owned())
}
