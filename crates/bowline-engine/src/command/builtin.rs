//! The commands that come with the engine.

use bowline_model::{KNOWN_MODELS, known_model};
use bowline_protocol::{RawJson, ResultMessage, SlashCommand, UserMessage};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Invocation, clear, compact, config, cost, effort, local, mcp, output_style, reload, rename,
    texts::{self, list},
};
use crate::{agent::Agent, context, session::Shared, subagent};

/// A command that comes with the engine.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
    argument_hint: &'static str,
    action: Action,
}

#[derive(Clone, Copy)]
enum Action {
    Agents,
    Clear,
    Compact,
    Config,
    Context,
    Cost,
    Effort,
    Help,
    Mcp,
    Model,
    OutputStyle,
    Permissions,
    ReloadPlugins,
    ReloadSkills,
    Rename,
}

/// All of them, in the order of their names.
pub(super) const BUILTINS: &[Builtin] = &[
    builtin("agents", &[], "List the kinds of subagents", "", Action::Agents),
    builtin(
        "clear",
        &["reset", "new"],
        "Begin a new conversation with an empty context",
        "[name]",
        Action::Clear,
    ),
    builtin(
        "compact",
        &[],
        "Replace the conversation by a summary of itself",
        "[what the summary should keep]",
        Action::Compact,
    ),
    builtin(
        "config",
        &["settings"],
        "Show or change settings that are kept",
        "key=value",
        Action::Config,
    ),
    builtin("context", &[], "Show what fills the context", "", Action::Context),
    builtin("effort", &[], "Change how hard the model tries", "<level>", Action::Effort),
    builtin("help", &[], "List the commands", "", Action::Help),
    builtin(
        "mcp",
        &[],
        "List MCP servers, or switch them on and off",
        "[reconnect|enable|disable [server]]",
        Action::Mcp,
    ),
    builtin("model", &[], "Show or change the model", "[model]", Action::Model),
    builtin("output-style", &[], "Show or change the output style", "[style]", Action::OutputStyle),
    builtin("permissions", &[], "List the permission rules", "", Action::Permissions),
    builtin("reload-plugins", &[], "Read the plugins again", "", Action::ReloadPlugins),
    builtin("reload-skills", &[], "Read the skills again", "", Action::ReloadSkills),
    builtin("rename", &["name"], "Give the session a title", "<name>", Action::Rename),
    builtin("usage", &["cost", "stats"], "Show what the session has used", "", Action::Cost),
];

const fn builtin(
    name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
    argument_hint: &'static str,
    action: Action,
) -> Builtin {
    Builtin { name, aliases, description, argument_hint, action }
}

impl Builtin {
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// As hosts are told.
    pub(super) fn listed(&self) -> SlashCommand {
        let aliases: Vec<_> = self.aliases.iter().map(|alias| (*alias).to_owned()).collect();
        SlashCommand {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            argument_hint: self.argument_hint.to_owned(),
            aliases: (!aliases.is_empty()).then_some(aliases),
            builtin: Some(true),
            ..SlashCommand::default()
        }
    }
}

/// Runs a command.
pub(super) async fn run(
    agent: &mut Agent,
    builtin: &Builtin,
    invocation: &Invocation,
    prompt: &UserMessage,
    cancel: &CancellationToken,
) -> ResultMessage {
    let result = perform(agent, builtin, invocation, prompt, cancel).await;
    let mark = texts::builtin_mark(builtin.name, &invocation.args);
    local::replay(&agent.session, prompt, mark).await;
    result
}

async fn perform(
    agent: &mut Agent,
    builtin: &Builtin,
    invocation: &Invocation,
    prompt: &UserMessage,
    cancel: &CancellationToken,
) -> ResultMessage {
    let args = invocation.args.as_str();
    let session = &agent.session;
    let model = session.model_name();
    let text = match builtin.action {
        Action::Clear => return clear::run(agent, invocation, prompt, cancel).await,
        Action::Compact => {
            return compact::run(agent, builtin.name, invocation, prompt, cancel).await;
        }
        Action::Context => return show_context(agent, builtin.name, invocation, prompt).await,
        Action::Agents => agents(agent),
        Action::Config => config::run(session, args).await,
        Action::Cost => cost::cost_text(session),
        Action::Effort => effort::run(session, args),
        Action::Help => help(agent),
        Action::Mcp => mcp::run(session, args).await,
        Action::Model => switch_model(session, args).await,
        Action::OutputStyle => output_style::run(session, args),
        Action::Permissions => permissions(agent),
        Action::ReloadPlugins => reload::plugins(session).await,
        Action::ReloadSkills => reload::skills(session),
        Action::Rename => rename::run(session, args).await,
    };
    // What a command has changed holds when it is announced, but for the model that heard it.
    local::announce_with(agent, prompt, model).await;
    let report = local::Report::new(builtin.name, invocation, text);
    local::answer(agent, report).await
}

async fn show_context(
    agent: &Agent,
    name: &str,
    invocation: &Invocation,
    prompt: &UserMessage,
) -> ResultMessage {
    local::announce(agent, prompt).await;
    agent.note_context();
    context::foresee(&agent.session).await;
    let usage = context::usage(&agent.session, None);
    let mut report = local::Report::new(name, invocation, texts::context_table(&usage));
    let categories: Vec<Value> = usage
        .categories
        .iter()
        .map(|it| json!({ "name": it.name, "tokens": it.tokens, "kind": it.kind }))
        .collect();
    let skills = usage.skills.as_ref().map(RawJson::to_value).unwrap_or_default();
    let skills = skills.get("skillFrontmatter").cloned().unwrap_or_default();
    report.context_usage = Some(RawJson::from(json!({
        "model": usage.model,
        "total_tokens": usage.total_tokens,
        "raw_max_tokens": usage.raw_max_tokens,
        "percentage": usage.percentage,
        "categories": categories,
        "mcp_tools": usage.mcp_tools,
        "memory_files": usage.memory_files,
        "agents": usage.agents,
        "skills": skills,
    })));
    local::answer(agent, report).await
}

fn agents(agent: &Agent) -> String {
    let infos = subagent::infos(&agent.session);
    if infos.is_empty() {
        return "There are no subagents.".to_owned();
    }
    let lines = infos.iter().map(|info| format!("- {}: {}", info.name, info.description));
    list("Subagents:", lines)
}

fn help(agent: &Agent) -> String {
    let commands = super::list(&agent.session).into_iter().map(|command| {
        let hint = match command.argument_hint.as_str() {
            "" => String::new(),
            hint => format!(" {hint}"),
        };
        format!("- /{}{hint}: {}", command.name, command.description)
    });
    list("Commands:", commands)
}

fn permissions(agent: &Agent) -> String {
    let policy = agent.session.policy();
    let state = policy.list();
    let mode = format!("Permission mode: {}", policy.mode);
    if state.rules.is_empty() {
        return format!("{mode}\nThere are no permission rules.");
    }
    let rules = state.rules.iter();
    let rules = rules.map(|rule| format!("- {}: {} ({})", rule.behavior, rule.rule, rule.source));
    list(&format!("{mode}\nRules:"), rules)
}

async fn switch_model(session: &Shared, wanted: &str) -> String {
    if wanted.is_empty() {
        let known = KNOWN_MODELS.iter().filter_map(|model| {
            model.alias.map(|alias| format!("- {alias}: {}", model.display_name))
        });
        let now = format!("The model is `{}`. Others:", shown(&session.model_name()));
        return list(&now, known);
    }
    let asked = (wanted != "default").then_some(wanted);
    let name = asked.unwrap_or(&session.config.default_model);
    if let Err(error) = session.config.models.connect(name) {
        return format!("The model stays as it is: `{name}` {error}");
    }
    match session.switch_model(asked, "command").await {
        Ok(model) => format!("Set model to `{}` for this session only", shown(&model)),
        Err(error) => format!("The model stays as it is: {error}"),
    }
}

/// What people call a model.
fn shown(model: &str) -> &str {
    known_model(model).map_or(model, |known| known.display_name)
}
