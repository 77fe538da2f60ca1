//! Built-in commands.

use bowline_model::{KNOWN_MODELS, known_model};
use bowline_protocol::{RawJson, ResultMessage, UserMessage};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    clear, compact, config, cost, effort, local, mcp, output_style, reload, rename,
    texts::{self, list},
};
use crate::{
    agent::Agent,
    context,
    library::{Action, Builtin, Invocation},
    model_switch,
    session_context::SessionContext,
};

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
    let model = session.models.name();
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
    // The announcement has the new values, except the model: it names the one that got the prompt.
    local::announce_with(agent, prompt, model).await;
    let report = local::Report::new(builtin.name, invocation, text);
    local::send_report(agent, report).await
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
    local::send_report(agent, report).await
}

fn agents(agent: &Agent) -> String {
    let infos = agent.session.kinds.infos();
    if infos.is_empty() {
        return "There are no subagents.".to_owned();
    }
    let lines = infos.iter().map(|info| format!("- {}: {}", info.name, info.description));
    list("Subagents:", lines)
}

fn help(agent: &Agent) -> String {
    let commands = agent.session.commands.list().into_iter().map(|command| {
        let hint = match command.argument_hint.as_str() {
            "" => String::new(),
            hint => format!(" {hint}"),
        };
        format!("- /{}{hint}: {}", command.name, command.description)
    });
    list("Commands:", commands)
}

fn permissions(agent: &Agent) -> String {
    let policy = agent.session.permissions.policy();
    let state = policy.list();
    let mode = format!("Permission mode: {}", policy.mode);
    if state.rules.is_empty() {
        return format!("{mode}\nThere are no permission rules.");
    }
    let rules = state.rules.iter();
    let rules = rules.map(|rule| format!("- {}: {} ({})", rule.behavior, rule.rule, rule.source));
    list(&format!("{mode}\nRules:"), rules)
}

async fn switch_model(session: &SessionContext, wanted: &str) -> String {
    if wanted.is_empty() {
        let known = KNOWN_MODELS.iter().filter_map(|model| {
            model.alias.map(|alias| format!("- {alias}: {}", model.display_name))
        });
        let now = format!("The model is `{}`. Others:", shown(&session.models.name()));
        return list(&now, known);
    }
    let asked = (wanted != "default").then_some(wanted);
    let name = asked.unwrap_or(&session.config.default_model);
    if let Err(error) = session.models.connect(name) {
        return format!("The model stays as it is: `{name}` {error}");
    }
    match model_switch::switch(session, asked, "command").await {
        Ok(model) => format!("Set model to `{}` for this session only", shown(&model)),
        Err(error) => format!("The model stays as it is: {error}"),
    }
}

/// The display name of a model.
fn shown(model: &str) -> &str {
    known_model(model).map_or(model, |known| known.display_name)
}
