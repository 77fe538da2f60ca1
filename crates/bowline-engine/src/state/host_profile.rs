//! Profile of the host, from its `initialize` request.

use std::collections::BTreeMap;

use bowline_protocol::{AgentDefinition, Initialize};
use parking_lot::Mutex;

use crate::config::SessionConfig;

/// The profile of the host, shared by all agents.
#[derive(Debug)]
pub(crate) struct HostProfile(Mutex<HostTraits>);

/// The fields of `initialize` that apply to the session.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostTraits {
    pub(crate) initialized: bool,
    pub(crate) forward_subagent_text: bool,
    pub(crate) plan_mode_instructions: Option<String>,
    pub(crate) skills: Option<Vec<String>>,
    /// Replaces the default system prompt.
    pub(crate) system_prompt: Option<Vec<String>>,
    /// Appended to the system prompt.
    pub(crate) append_system_prompt: Option<String>,
    /// Whether facts about the environment go with the first prompt rather than into the system prompt.
    pub(crate) exclude_dynamic_sections: bool,
    /// Appended to the system prompt of subagents.
    pub(crate) append_subagent_system_prompt: Option<String>,
    /// Other names for tools.
    pub(crate) tool_aliases: BTreeMap<String, String>,
    /// Whether the host has subscribers, if that is known.
    pub(crate) has_subscribers: Option<bool>,
    /// Whether interrupting leaves background tasks alone.
    pub(crate) stops_tasks_itself: bool,
    /// Agents that the host defined.
    pub(crate) agents: BTreeMap<String, AgentDefinition>,
}

impl HostProfile {
    pub(crate) fn new(config: &SessionConfig) -> Self {
        Self(Mutex::new(HostTraits {
            forward_subagent_text: config.forward_subagent_text,
            exclude_dynamic_sections: config.exclude_dynamic_sections,
            ..HostTraits::default()
        }))
    }

    /// Reads something of the profile.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&HostTraits) -> T) -> T {
        read(&self.0.lock())
    }

    /// Changes something of the profile.
    pub(crate) fn update<T>(&self, change: impl FnOnce(&mut HostTraits) -> T) -> T {
        change(&mut self.0.lock())
    }

    /// Replaces the name of a tool that the host has replaced by another.
    pub(crate) fn redirect(&self, tool: &mut String) {
        if let Some(other) = self.0.lock().tool_aliases.get(tool) {
            *tool = other.clone();
        }
    }

    /// Applies `initialize`. What the host sends again replaces what it sent; the rest stays.
    pub(crate) fn apply(&self, request: Initialize) {
        let mut host = self.0.lock();
        host.forward_subagent_text |= request.forward_subagent_text == Some(true);
        host.stops_tasks_itself |= request.per_task_stop_affordance == Some(true);
        replace(&mut host.plan_mode_instructions, request.plan_mode_instructions);
        replace(&mut host.skills, request.skills);
        replace(&mut host.system_prompt, request.system_prompt);
        replace(&mut host.append_system_prompt, request.append_system_prompt);
        host.exclude_dynamic_sections |= request.exclude_dynamic_sections == Some(true);
        let append_for_subagents = request.append_subagent_system_prompt;
        replace(&mut host.append_subagent_system_prompt, append_for_subagents);
        host.agents.extend(request.agents.unwrap_or_default());
        if let Some(aliases) = request.tool_aliases {
            host.tool_aliases = aliases;
        }
    }
}

/// Replaces a value if there is a new one.
fn replace<T>(value: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *value = new;
    }
}
