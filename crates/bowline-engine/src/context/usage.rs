//! What fills the context, by category.

use std::sync::Arc;

use bowline_model::{ModelMessage, ToolDefinition};
use bowline_protocol::{
    ContentBlock, ContextAgent, ContextCategory, ContextFile, ContextKind, ContextMcpTool,
    ContextSquare, ContextUsage, RawJson, Role,
};
use serde_json::{Number, json};

use super::{Snapshot, counted::Counted, tokens};
use crate::{command, ledger, session::Shared, subagent, toolset::Toolset};

/// What is kept free for a summary and for what arrives until it is made.
const RESERVE: u64 = 33_000;
/// Small contexts keep this part of themselves free instead.
const RESERVE_PART: u64 = 3;
/// The picture has this many squares.
const ROWS: usize = 10;
const SQUARES_PER_ROW: usize = 20;

/// How much of a context is kept free.
pub(crate) fn reserve(window: u64) -> u64 {
    RESERVE.min(window / RESERVE_PART)
}

/// The size at which a conversation counts as full, and the context it is part of.
pub(crate) fn threshold(session: &Shared, model: &str) -> (u64, u64) {
    let window = ledger::context_window(model);
    let wanted = session.settings().known().auto_compact_window;
    let wanted = session.config.auto_compact_window.or(wanted);
    let window = wanted.map_or(window, |wanted| wanted.min(window));
    (window - reserve(window), window)
}

/// What fills the context now. Without counts of the model's provider these are estimates; with
/// them only the shares within what was counted are.
pub(crate) fn usage(session: &Shared, counted: Option<Counted>) -> ContextUsage {
    let snapshot = session.context.snapshot();
    let model = session.model_name();
    let window = ledger::context_window(&model);
    let (threshold, _) = threshold(session, &model);
    let auto_compact = auto_compact(session);
    let mut memory_files = memory_files(session);
    let skills = command::skills(session);
    let mut tools = Tools::of(snapshot.tools.as_deref());
    let mut parts = Parts {
        memory: memory_files.iter().map(|file| file.tokens).sum(),
        skills: skills.iter().map(skill_tokens).sum(),
        system: snapshot.system.iter().map(|text| tokens::of_text(text)).sum(),
        messages: tokens::of_messages(&snapshot.messages),
    };
    if let Some(counted) = counted {
        let share = Share { of: parts.system, is: counted.system };
        memory_files.iter_mut().for_each(|file| file.tokens = share.of(file.tokens));
        parts = Parts {
            memory: share.of(parts.memory),
            skills: share.of(parts.skills),
            system: counted.system,
            messages: counted.messages,
        };
        tools.correct(counted.tools);
    }
    let categories =
        categories(&parts, &tools, window, auto_compact.then(|| window - threshold.min(window)));
    let used = |category: &&ContextCategory| category.kind == Some(ContextKind::Used);
    let total = categories.iter().filter(used).map(|category| category.tokens).sum();
    let newest = session.ledger().newest();
    let mut extra = bowline_protocol::Extra::new();
    let source = match session.config.auto_compact_window {
        Some(_) => "settings",
        None => "model-default",
    };
    extra.insert("autocompactSource".to_owned(), json!(source));
    ContextUsage {
        grid_rows: grid(&categories, window),
        categories,
        total_tokens: total,
        max_tokens: window,
        raw_max_tokens: window,
        percentage: percentage(total, window),
        model,
        memory_files,
        mcp_tools: tools.mcp,
        agents: agents(session),
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
        mcp_instructions: Some(Vec::new()),
        deferred_builtin_tools: None,
        system_tools: None,
        system_prompt_sections: None,
        slash_commands: Some(RawJson::from(slash_commands(session))),
        skills: Some(RawJson::from(json!({
            "totalSkills": skills.len(),
            "includedSkills": skills.len(),
            "tokens": parts.skills,
            "skillFrontmatter": skills
                .iter()
                .map(|skill| {
                    json!({
                        "name": skill.name,
                        "source": skill.source.as_str(),
                        "tokens": skill_tokens(skill),
                    })
                })
                .collect::<Vec<_>>(),
        }))),
        message_breakdown: Some(RawJson::from(breakdown(&snapshot))),
        extra,
    }
}

/// Whether a full context is compacted without being asked.
pub(crate) fn auto_compact(session: &Shared) -> bool {
    let wanted = session.settings().known().auto_compact_enabled;
    session.config.auto_compact && wanted != Some(false)
}

/// Estimates of parts, made to fit what the whole was found to be.
#[derive(Clone, Copy)]
struct Share {
    /// What the whole was estimated to be.
    of: u64,
    /// What it is.
    is: u64,
}

impl Share {
    fn of(self, part: u64) -> u64 {
        let exact = u128::from(part) * u128::from(self.is) / u128::from(self.of.max(1));
        u64::try_from(exact).unwrap_or(u64::MAX)
    }
}

struct Parts {
    system: u64,
    memory: u64,
    skills: u64,
    messages: u64,
}

struct Tools {
    own: u64,
    of_servers: u64,
    mcp: Vec<ContextMcpTool>,
}

impl Tools {
    fn of(toolset: Option<&Toolset>) -> Self {
        let mut tools = Self { own: 0, of_servers: 0, mcp: Vec::new() };
        let definitions = toolset.map(Toolset::definitions).unwrap_or_default();
        for definition in definitions.iter() {
            tools.count(toolset, definition);
        }
        tools
    }

    /// All of them together are this many tokens.
    fn correct(&mut self, counted: u64) {
        let share = Share { of: self.own + self.of_servers, is: counted };
        self.mcp.iter_mut().for_each(|tool| tool.tokens = share.of(tool.tokens));
        self.of_servers = share.of(self.of_servers);
        self.own = counted.saturating_sub(self.of_servers);
    }

    fn count(&mut self, toolset: Option<&Toolset>, definition: &ToolDefinition) {
        let tokens = tokens::of_tool(definition);
        match toolset.and_then(|toolset| toolset.server_of(&definition.name)) {
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
    // Memory and skills are part of the system prompt; they are shown apart from it.
    let system = parts.system.saturating_sub(parts.memory + parts.skills);
    let all_used = [
        used("system_prompt", "System prompt", system, "promptBorder"),
        used("system_tools", "System tools", tools.own, "inactive"),
        used("mcp_tools", "MCP tools", tools.of_servers, "cyan_FOR_SUBAGENTS_ONLY"),
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

/// The same as a picture: what is used first, then what is free, what is kept free last.
fn grid(categories: &[ContextCategory], window: u64) -> Vec<Vec<ContextSquare>> {
    let squares = ROWS * SQUARES_PER_ROW;
    let per_square = window as f64 / squares as f64;
    let mut painted = Vec::new();
    let mut paint = |category: &ContextCategory, most: usize| {
        let filled = category.tokens as f64 / per_square;
        let count = (filled.ceil() as usize).min(most);
        for place in 0..count {
            painted.push(ContextSquare {
                color: category.color.clone(),
                is_filled: true,
                category_name: category.name.clone(),
                tokens: category.tokens,
                percentage: percentage(category.tokens, window),
                square_fullness: number((filled - place as f64).clamp(0.0, 1.0)),
                extra: bowline_protocol::Extra::new(),
            });
        }
        count
    };
    let of_kind =
        |kind: ContextKind| categories.iter().filter(move |it| it.kind.as_ref() == Some(&kind));
    let mut left = squares;
    for category in of_kind(ContextKind::Used) {
        left -= paint(category, left);
    }
    let buffered = |category: &ContextCategory| (category.tokens as f64 / per_square).ceil();
    let buffer: usize = of_kind(ContextKind::Buffer).map(|it| buffered(it) as usize).sum();
    for category in of_kind(ContextKind::Free) {
        left -= paint(category, left.saturating_sub(buffer));
    }
    for category in of_kind(ContextKind::Buffer) {
        left -= paint(category, left);
    }
    painted.chunks(SQUARES_PER_ROW).map(<[_]>::to_vec).collect()
}

fn memory_files(session: &Shared) -> Vec<ContextFile> {
    let loaded = session.context.loaded();
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

fn agents(session: &Shared) -> Vec<ContextAgent> {
    let infos = subagent::infos(session).into_iter();
    infos
        .map(|info| ContextAgent {
            tokens: tokens::of_text(&info.name) + tokens::of_text(&info.description),
            agent_type: info.name,
            source: "session".to_owned(),
            ..ContextAgent::default()
        })
        .collect()
}

fn slash_commands(session: &Shared) -> serde_json::Value {
    let commands = command::list(session);
    let tokens: u64 = commands.iter().map(|command| tokens::of_text(&command.description)).sum();
    json!({
        "totalCommands": commands.len(),
        "includedCommands": commands.len(),
        "tokens": tokens,
    })
}

fn skill_tokens(skill: &command::CustomCommand) -> u64 {
    tokens::of_text(&skill.name) + tokens::of_text(&skill.description)
}

/// The conversation by kind of message.
fn breakdown(snapshot: &Snapshot) -> serde_json::Value {
    let count = |wanted: &dyn Fn(&ModelMessage, &ContentBlock) -> bool| -> u64 {
        let blocks = snapshot.messages.iter().flat_map(|message: &Arc<ModelMessage>| {
            message.content.iter().filter(|block| wanted(message, block))
        });
        blocks.map(tokens::of_block).sum()
    };
    let is_call = |block: &ContentBlock| matches!(block, ContentBlock::ToolUse(_));
    let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(_));
    let says = |role: Role| {
        count(&|message, block| message.role == role && !is_call(block) && !is_result(block))
    };
    json!({
        "toolCallTokens": count(&|_, block| is_call(block)),
        "toolResultTokens": count(&|_, block| is_result(block)),
        "attachmentTokens": 0,
        "assistantMessageTokens": says(Role::Assistant),
        "userMessageTokens": says(Role::User),
        "redirectedContextTokens": 0,
        "unattributedTokens": 0,
        "toolCallsByType": [],
        "attachmentsByType": [],
    })
}

fn percentage(part: u64, whole: u64) -> Number {
    let whole = whole.max(1);
    Number::from((part * 100 + whole / 2) / whole)
}

fn number(value: f64) -> Number {
    Number::from_f64(value).unwrap_or_else(|| Number::from(0))
}
