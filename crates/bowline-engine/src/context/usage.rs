//! Context usage by category.

mod conversation;
mod grid;

use std::sync::Arc;

use bowline_model::ToolDefinition;
use bowline_protocol::{
    ContextAgent, ContextCategory, ContextFile, ContextKind, ContextMcpTool, ContextUsage, RawJson,
};
use serde_json::{Number, Value, json};

use super::{counted::Counted, listed_skills, servers, skill_line, tokens};
use crate::{
    agent_kind::AgentSource,
    library::{CustomCommand, LibrarySource},
    session_context::SessionContext,
    settings::Source,
    toolset::{AGENT_TOOL, Toolset},
    usage,
};

/// Tokens reserved for a summary and for messages that arrive until it is made.
const RESERVE: u64 = 33_000;
/// The reserved part of small contexts.
const RESERVE_PART: u64 = 3;

/// The reserved tokens of a context.
pub(crate) fn reserve(window: u64) -> u64 {
    RESERVE.min(window / RESERVE_PART)
}

/// The size from which a conversation is full, and the window of which it is part.
pub(crate) fn threshold(session: &SessionContext, model: &str) -> (u64, u64) {
    let window = usage::context_window(model);
    let window = wanted_window(session).map_or(window, |wanted| wanted.min(window));
    (window - reserve(window), window)
}

/// The context window of the settings, if it is not the model's.
fn wanted_window(session: &SessionContext) -> Option<u64> {
    let wanted = session.settings.lock().known().auto_compact_window;
    session.config.auto_compact_window.or(wanted)
}

/// The current context usage. Without the provider's counts all numbers are estimates; with them
/// the totals are exact, and only their breakdown is estimated.
pub(crate) fn usage(session: &SessionContext, counted: Option<Counted>) -> ContextUsage {
    let snapshot = session.model_context.snapshot();
    let toolset = snapshot.tools.clone().unwrap_or_else(|| Arc::new(Toolset::empty()));
    let model = session.models.name();
    let window = usage::context_window(&model);
    let (threshold, _) = threshold(session, &model);
    let auto_compact = auto_compact(session);
    let mut memory_files = memory_files(session);
    let mut instructions = instructions(session, &toolset);
    let mut skills: Vec<_> =
        listed_skills(session, &toolset).into_iter().map(counted_skill).collect();
    let mut agents = agents(session, &toolset);
    let mut tools = Tools::of(&toolset);
    let mut system = snapshot.system.iter().map(|text| tokens::of_text(text)).sum();
    let mut messages = tokens::of_messages(&snapshot.messages);
    if let Some(counted) = counted {
        let share = Share { of: system, is: counted.system };
        memory_files.iter_mut().for_each(|file| file.tokens = share.of(file.tokens));
        instructions.iter_mut().for_each(|(_, tokens)| *tokens = share.of(*tokens));
        skills.iter_mut().for_each(|(_, tokens)| *tokens = share.of(*tokens));
        let share = tools.correct(counted.tools);
        agents.iter_mut().for_each(|agent| agent.tokens = share.of(agent.tokens));
        (system, messages) = (counted.system, counted.messages);
    }
    let parts = Parts {
        memory: memory_files.iter().map(|file| file.tokens).sum(),
        instructions: instructions.iter().map(|(_, tokens)| tokens).sum(),
        skills: skills.iter().map(|(_, tokens)| tokens).sum(),
        agents: agents.iter().map(|agent| agent.tokens).sum(),
        system,
        messages,
    };
    let categories =
        categories(&parts, &tools, window, auto_compact.then(|| window - threshold.min(window)));
    let used = |category: &&ContextCategory| category.kind == Some(ContextKind::Used);
    let total = categories.iter().filter(used).map(|category| category.tokens).sum();
    let newest = session.usage.ledger().newest();
    let mut extra = bowline_protocol::Extra::new();
    let source = match wanted_window(session) {
        Some(_) => "settings",
        None => "model-default",
    };
    extra.insert("autocompactSource".to_owned(), json!(source));
    ContextUsage {
        grid_rows: grid::grid(&categories, window),
        categories,
        total_tokens: total,
        max_tokens: window,
        raw_max_tokens: window,
        percentage: percentage(total, window),
        model,
        memory_files,
        mcp_tools: tools.mcp,
        agents,
        is_auto_compact_enabled: auto_compact,
        auto_compact_threshold: auto_compact.then_some(threshold),
        api_usage: newest.map(|tokens| {
            RawJson::from(json!({
                "input_tokens": tokens.input,
                "output_tokens": tokens.output,
                "cache_creation_input_tokens": tokens.cache_write,
                "cache_read_input_tokens": tokens.cache_read,
            }))
        }),
        mcp_instructions: Some(
            instructions
                .iter()
                .map(|(server, tokens)| json!({ "serverName": server, "tokens": tokens }).into())
                .collect(),
        ),
        deferred_builtin_tools: None,
        system_tools: None,
        system_prompt_sections: None,
        slash_commands: Some(RawJson::from(slash_commands(session))),
        skills: Some(RawJson::from(json!({
            "totalSkills": session.commands.for_model().len(),
            "includedSkills": skills.len(),
            "tokens": parts.skills,
            "skillFrontmatter": skills.iter().map(skill_entry).collect::<Vec<_>>(),
        }))),
        message_breakdown: Some(conversation::breakdown(&snapshot, messages).into()),
        extra,
    }
}

/// Whether a full context is compacted automatically.
pub(crate) fn auto_compact(session: &SessionContext) -> bool {
    let wanted = session.settings.lock().known().auto_compact_enabled;
    session.config.auto_compact && wanted != Some(false)
}

/// The ratio that scales estimates of parts to the counted total.
#[derive(Clone, Copy)]
struct Share {
    /// The estimate of the total.
    of: u64,
    /// The counted total.
    is: u64,
}

impl Share {
    fn of(self, part: u64) -> u64 {
        let exact = u128::from(part) * u128::from(self.is) / u128::from(self.of.max(1));
        u64::try_from(exact).unwrap_or(u64::MAX)
    }
}

/// Context usage besides tools. Memory, instructions and skills are part of the system prompt, and
/// agents are part of a tool's description, but they are shown separately.
struct Parts {
    system: u64,
    memory: u64,
    instructions: u64,
    skills: u64,
    agents: u64,
    messages: u64,
}

struct Tools {
    own: u64,
    of_servers: u64,
    mcp: Vec<ContextMcpTool>,
}

impl Tools {
    fn of(toolset: &Toolset) -> Self {
        let mut tools = Self { own: 0, of_servers: 0, mcp: Vec::new() };
        for definition in toolset.definitions().iter() {
            tools.count(toolset, definition);
        }
        tools
    }

    /// Replaces the total by the counted one. Returns the ratio for the estimates.
    fn correct(&mut self, counted: u64) -> Share {
        let share = Share { of: self.own + self.of_servers, is: counted };
        self.mcp.iter_mut().for_each(|tool| tool.tokens = share.of(tool.tokens));
        self.of_servers = share.of(self.of_servers);
        self.own = counted.saturating_sub(self.of_servers);
        share
    }

    fn count(&mut self, toolset: &Toolset, definition: &ToolDefinition) {
        let tokens = tokens::of_tool(definition);
        match toolset.server_of(&definition.name) {
            Some(server) => {
                self.of_servers += tokens;
                self.mcp.push(ContextMcpTool {
                    name: definition.name.clone(),
                    server_name: server.name,
                    tokens,
                    is_loaded: Some(true),
                    ..ContextMcpTool::default()
                });
            }
            None => self.own += tokens,
        }
    }
}

fn categories(
    parts: &Parts,
    tools: &Tools,
    window: u64,
    buffer: Option<u64>,
) -> Vec<ContextCategory> {
    let category = |id: &str, name: &str, tokens, color: &str, kind| ContextCategory {
        id: Some(id.to_owned()),
        name: name.to_owned(),
        tokens,
        color: color.to_owned(),
        kind: Some(kind),
        ..ContextCategory::default()
    };
    let used = |id, name, tokens, color| category(id, name, tokens, color, ContextKind::Used);
    let system = parts.system.saturating_sub(parts.memory + parts.instructions + parts.skills);
    let own_tools = tools.own.saturating_sub(parts.agents);
    let all_used = [
        used("system_prompt", "System prompt", system, "promptBorder"),
        used("system_tools", "System tools", own_tools, "inactive"),
        used("mcp_tools", "MCP tools", tools.of_servers, "cyan_FOR_SUBAGENTS_ONLY"),
        used("mcp_instructions", "MCP instructions", parts.instructions, "cyan_FOR_SUBAGENTS_ONLY"),
        used("custom_agents", "Custom agents", parts.agents, "permission"),
        used("memory_files", "Memory files", parts.memory, "claude"),
        used("skills", "Skills", parts.skills, "warning"),
        used("messages", "Messages", parts.messages, "purple_FOR_SUBAGENTS_ONLY"),
    ];
    let mut categories: Vec<_> =
        all_used.into_iter().filter(|category| category.tokens > 0).collect();
    let taken: u64 = categories.iter().map(|category| category.tokens).sum();
    let left = window.saturating_sub(taken);
    let buffer = buffer.map(|buffer| buffer.min(left));
    if let Some(buffer) = buffer {
        let name = "Autocompact buffer";
        let kind = ContextKind::Buffer;
        categories.push(category("autocompact_buffer", name, buffer, "inactive", kind));
    }
    let free = left - buffer.unwrap_or(0);
    categories.push(category("free_space", "Free space", free, "promptBorder", ContextKind::Free));
    categories
}

fn memory_files(session: &SessionContext) -> Vec<ContextFile> {
    let loaded = session.model_context.loaded();
    let files = loaded.iter().flat_map(|loaded| &loaded.memory);
    files
        .map(|file| ContextFile {
            path: file.path.display().to_string(),
            r#type: file.kind.as_str().to_owned(),
            tokens: tokens::of_text(&file.text),
            ..ContextFile::default()
        })
        .collect()
}

/// The instructions of servers, in tokens.
fn instructions(session: &SessionContext, toolset: &Toolset) -> Vec<(String, u64)> {
    let texts = servers::instructions(session, toolset).into_iter();
    texts.map(|(server, text)| (server, tokens::of_text(&text))).collect()
}

/// The custom agents, if the model has the tool to start them.
fn agents(session: &SessionContext, toolset: &Toolset) -> Vec<ContextAgent> {
    if toolset.find(AGENT_TOOL).is_err() {
        return Vec::new();
    }
    let kinds = session.kinds.all().into_iter();
    let custom = kinds.filter(|kind| kind.source != AgentSource::BuiltIn);
    custom
        .map(|kind| ContextAgent {
            tokens: tokens::of_text(&kind.name) + tokens::of_text(&kind.description),
            agent_type: kind.name,
            source: kind.source.as_str().to_owned(),
            extra: kind.path.iter().map(|path| ("path".to_owned(), json!(path))).collect(),
        })
        .collect()
}

fn slash_commands(session: &SessionContext) -> serde_json::Value {
    let commands = session.commands.list();
    let tokens: u64 = commands.iter().map(|command| tokens::of_text(&command.description)).sum();
    json!({
        "totalCommands": commands.len(),
        "includedCommands": commands.len(),
        "tokens": tokens,
    })
}

fn counted_skill(skill: CustomCommand) -> (CustomCommand, u64) {
    let tokens = tokens::of_text(&skill_line(&skill));
    (skill, tokens)
}

fn skill_entry((skill, tokens): &(CustomCommand, u64)) -> Value {
    let source = match &skill.source {
        LibrarySource::Project => Source::Project.as_str(),
        LibrarySource::User => Source::User.as_str(),
        LibrarySource::Plugin(_) => "plugin",
    };
    json!({ "name": skill.name, "source": source, "path": skill.path, "tokens": tokens })
}

fn percentage(part: u64, whole: u64) -> Number {
    let whole = whole.max(1);
    Number::from((part * 100 + whole / 2) / whole)
}
