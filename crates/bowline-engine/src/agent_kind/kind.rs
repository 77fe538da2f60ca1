//! Kinds of agents: purpose, tools and limits of each.

use std::path::PathBuf;

use bowline_mcp::{NamedServer, public_name};
use bowline_protocol::{
    AgentDefinition, AgentEffort, AgentMemory, Effort, HookSettings, PermissionMode,
};
use serde_json::Value;

use super::servers;
use crate::{settings::Source, toolset::Filter};

/// The default kind.
pub(crate) const GENERAL_PURPOSE: &str = "general-purpose";
/// The read-only kind.
const EXPLORE: &str = "Explore";

/// The tools that a memory needs.
const MEMORY_TOOLS: [&str; 3] = ["Read", "Write", "Edit"];

/// Whether an agent gets `CLAUDE.md` and the like in its system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProjectInstructions {
    Told,
    Omitted,
}

/// The origin of a kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentSource {
    BuiltIn,
    Plugin,
    /// A file of the user or the project, or settings.
    Settings(Source),
}

impl AgentSource {
    /// The name in messages to hosts.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Plugin => "plugin",
            Self::Settings(source) => source.as_str(),
        }
    }
}

/// A kind of agent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AgentKind {
    pub(crate) name: String,
    pub(crate) source: AgentSource,
    /// The file that defines it, if one does.
    pub(crate) path: Option<PathBuf>,
    /// When to use it, for the model that chooses.
    pub(crate) description: String,
    /// Its system prompt.
    pub(crate) prompt: String,
    /// Its tools; `None` for all of its parent's.
    pub(crate) tools: Option<Vec<String>>,
    /// Tools that are removed.
    pub(crate) disallowed_tools: Vec<String>,
    /// Its model; `None` for the session's.
    pub(crate) model: Option<String>,
    /// Its effort level; `None` for the session's.
    pub(crate) effort: Option<Effort>,
    /// The maximum number of round trips.
    pub(crate) max_turns: Option<u32>,
    /// Whether it runs in the background by default.
    pub(crate) background: Option<bool>,
    /// Its permission mode; `None` for its parent's.
    pub(crate) permission_mode: Option<PermissionMode>,
    /// Whether it works in a worktree.
    pub(crate) isolated: bool,
    /// The first prompt when it is the main agent.
    pub(crate) initial_prompt: Option<String>,
    /// Skills whose text it has from the start.
    pub(crate) skills: Vec<String>,
    /// The scope of its memory; `None` for no memory.
    pub(crate) memory: Option<AgentMemory>,
    pub(crate) instructions: ProjectInstructions,
    /// Hooks that apply only to it.
    pub(crate) hooks: HookSettings,
    /// MCP servers that run only while it works.
    pub(crate) servers: Vec<NamedServer>,
    /// Servers of the kind that are not started, because the project is not trusted.
    pub(crate) blocked_servers: Vec<String>,
}

impl AgentKind {
    /// The filters that reduce the available tools to its own.
    pub(crate) fn filters(&self) -> Vec<Filter> {
        let memory = self.memory.iter().flat_map(|_| MEMORY_TOOLS).map(str::to_owned);
        // The tools of its own servers need not be listed.
        let servers = self.servers.iter().map(|it| format!("mcp__{}", public_name(&it.name)));
        let own = memory.chain(servers);
        let only =
            self.tools.clone().map(|tools| Filter::Only(tools.into_iter().chain(own).collect()));
        only.into_iter().chain([Filter::Except(self.disallowed_tools.clone())]).collect()
    }

    /// A kind defined on the command line, by the host or in settings.
    pub(crate) fn given(source: Source, name: &str, definition: &AgentDefinition) -> Self {
        Self {
            name: name.to_owned(),
            source: AgentSource::Settings(source),
            path: None,
            description: definition.description.clone(),
            prompt: definition.prompt.clone(),
            tools: definition.tools.clone(),
            disallowed_tools: definition.disallowed_tools.clone().unwrap_or_default(),
            model: definition.model.clone().filter(|model| model != "inherit"),
            effort: match &definition.effort {
                Some(AgentEffort::Level(level)) => level.parse().ok(),
                Some(AgentEffort::Number(_)) | None => None,
            },
            max_turns: definition.max_turns,
            background: definition.background,
            permission_mode: definition.permission_mode.clone(),
            isolated: definition.extra.get("isolation").is_some_and(|kind| kind == "worktree"),
            initial_prompt: definition.initial_prompt.clone(),
            skills: definition.skills.clone().unwrap_or_default(),
            memory: definition.memory.clone(),
            instructions: match definition.extra.get("omitClaudeMd") {
                Some(Value::Bool(true)) => ProjectInstructions::Omitted,
                _ => ProjectInstructions::Told,
            },
            hooks: definition.extra.get("hooks").map(read_hooks).unwrap_or_default(),
            servers: servers::configured(definition.mcp_servers.as_deref().unwrap_or_default()),
            blocked_servers: Vec::new(),
        }
    }
}

/// Hooks of a definition. Invalid ones are left out: an agent without them is
/// still an agent.
pub(super) fn read_hooks(written: &Value) -> HookSettings {
    serde_json::from_str(&written.to_string()).unwrap_or_else(|error| {
        tracing::warn!(%error, "the hooks of an agent cannot be read");
        HookSettings::new()
    })
}

/// The built-in kinds.
pub(crate) fn built_in() -> Vec<AgentKind> {
    let kind = |name: &str, description: &str, prompt: &str, disallowed: &[&str]| AgentKind {
        name: name.to_owned(),
        source: AgentSource::BuiltIn,
        path: None,
        description: description.to_owned(),
        prompt: prompt.to_owned(),
        tools: None,
        disallowed_tools: disallowed.iter().map(|tool| (*tool).to_owned()).collect(),
        model: None,
        effort: None,
        max_turns: None,
        background: None,
        permission_mode: None,
        isolated: false,
        initial_prompt: None,
        skills: Vec::new(),
        memory: None,
        instructions: ProjectInstructions::Told,
        hooks: HookSettings::new(),
        servers: Vec::new(),
        blocked_servers: Vec::new(),
    };
    vec![
        kind(
            GENERAL_PURPOSE,
            "Does a whole task by itself: searching, reading, changing files, running commands. \
             Use it for work of several steps whose details you do not need to see.",
            "You carry out one task for another agent, by yourself and to its end. Use the tools \
             you have; do not ask questions, because nobody will answer. When you are done, say \
             what you found or changed, with file paths and line numbers, and what is left open. \
             Your last message is all that the other agent gets.",
            &[],
        ),
        kind(
            EXPLORE,
            "Looks around in a code base and reports: where something is, how it works, what uses \
             it. Changes nothing.",
            "You explore a code base for another agent and change nothing. Search broadly first, \
             then read what matters. Answer the question with file paths and line numbers and \
             quote only what is needed. Your last message is all that the other agent gets.",
            &["Write", "Edit", "NotebookEdit", "Agent", "ExitPlanMode", "EnterPlanMode"],
        ),
    ]
}
