//! Slash commands: prompts that the engine answers itself, and prompts that stand for longer ones.
//!
//! | subject | where |
//! |---|---|
//! | the commands that come with the engine | [`builtin`], and a file for each that does more than show |
//! | commands that need a terminal | [`terminal`] |
//! | commands and skills that people write | [`library`] |
//! | how those become prompts | [`expand`] |
//! | prompts of MCP servers | [`mcp_prompt`] |
//! | what the host hears of a command | [`local`] |

mod builtin;
mod clear;
mod compact;
mod config;
mod cost;
mod effort;
mod expand;
mod library;
mod local;
mod mcp;
mod mcp_prompt;
mod output_style;
mod reload;
mod rename;
mod terminal;
mod texts;

use std::sync::Arc;

use bowline_mcp::McpPrompt;
use bowline_protocol::{
    Content, EventInput, Extra, HookEvent, PromptSubmitOutcomeKind, ResultMessage, SlashCommand,
    UserMessage, UserPromptExpansionInput,
};
use tokio_util::sync::CancellationToken;

use self::builtin::{BUILTINS, Builtin};
pub use self::expand::{ExpandedCommand, NamedFile};
pub(crate) use self::{
    cost::cost_text,
    expand::{Expansion, body, withdraw_tools},
    library::{CustomCommand, Library, LibraryCell, LibrarySource},
};
use crate::{
    agent::Agent,
    context::style,
    hook::texts as hook_texts,
    identity::Identity,
    session::{Shared, prompt},
    turn::pipeline::CallContext,
};

/// What became of a prompt.
pub(crate) enum Outcome {
    /// It is none of ours: the model gets it as it is.
    NoCommand,
    /// It was answered here.
    Answered(Box<ResultMessage>),
    /// The model gets this in its place.
    Expanded(Expansion),
}

/// A prompt that names a command.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Invocation {
    /// The name as it was typed, without the slash.
    name: String,
    /// What followed it.
    args: String,
}

/// What an invocation means.
enum Known {
    Builtin(&'static Builtin),
    Custom(CustomCommand),
    McpPrompt(McpPrompt),
    /// Something that cannot be run here, and is no question for the model either.
    Unavailable,
}

/// Whether a prompt names a command that exists. A path does not.
pub(crate) fn is_command(session: &Shared, content: &Content) -> bool {
    Invocation::read(content).is_some_and(|invocation| find(session, &invocation.name).is_some())
}

/// Runs a prompt as a command, if it is one.
pub(crate) async fn run(
    agent: &mut Agent,
    message: &UserMessage,
    cancel: &CancellationToken,
) -> Outcome {
    let Some(invocation) = Invocation::read(&message.message.content) else {
        return Outcome::NoCommand;
    };
    match find(&agent.session, &invocation.name) {
        None => Outcome::NoCommand,
        Some(Known::Builtin(builtin)) => {
            let result = builtin::run(agent, builtin, &invocation, message, cancel).await;
            Outcome::Answered(Box::new(result))
        }
        Some(Known::Custom(command)) => {
            run_custom(agent, &command, &invocation, message, cancel).await
        }
        Some(Known::McpPrompt(prompt)) => {
            mcp_prompt::run(agent, &prompt, &invocation, cancel).await
        }
        Some(Known::Unavailable) => {
            Outcome::Answered(Box::new(local::decline(agent, &invocation, message).await))
        }
    }
}

/// Whether a name is that of a command that comes with the program.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.iter().any(|builtin| builtin.is_called(name))
}

/// The commands there are.
pub(crate) fn list(session: &Shared) -> Vec<SlashCommand> {
    if !session.config.slash_commands {
        return Vec::new();
    }
    let custom = for_people(session).map(|command| SlashCommand {
        description: command.source.show(&command.description),
        ..listed(command)
    });
    custom.chain(BUILTINS.iter().map(Builtin::listed)).collect()
}

/// Those of them that people wrote, and skills that people may call.
pub(crate) fn list_custom(session: &Shared) -> Vec<SlashCommand> {
    for_people(session).map(listed).collect()
}

/// What the commands are called: a skill as its folder, whatever its head says.
pub(crate) fn names(session: &Shared) -> Vec<String> {
    let builtins = BUILTINS.iter().filter(|_| session.config.slash_commands);
    let custom = for_people(session).map(|command| command.name);
    custom.chain(builtins.map(|builtin| builtin.listed().name)).collect()
}

/// The text that a command stands for, without a conversation; `None` if nobody wrote it.
pub(crate) async fn expand_alone(
    context: &Arc<CallContext>,
    name: &str,
    args: &str,
    cancel: &CancellationToken,
) -> Option<Result<ExpandedCommand, String>> {
    let session = &context.session;
    let command = find_custom(session, name).filter(|command| command.is_for_people)?;
    let invocation = Invocation { name: name.to_owned(), args: args.to_owned() };
    let expanding = Expanding {
        kind: "slash_command",
        name: &command.name,
        source: command.source.as_str(),
        invocation: &invocation,
    };
    let told = match expansion_hooks(session, &expanding, cancel).await {
        Ok(told) => told,
        Err(refusal) => return Some(Err(refusal.text)),
    };
    let _withdrawal = Withdrawal(session);
    Some(match expand::spell_out(context, &command, &invocation, cancel).await {
        Ok(mut expanded) => {
            for context in told {
                expanded.text.push_str("\n\n");
                expanded.text.push_str(&context);
            }
            Ok(expanded)
        }
        Err(problem) => Err(problem.to_string()),
    })
}

/// The skills there are, those for the model and those for people.
pub(crate) fn skills(session: &Shared) -> Vec<CustomCommand> {
    if !session.config.slash_commands {
        return Vec::new();
    }
    let wanted = session.live().host.skills.clone();
    let library = session.library.get(session);
    let skills = library.skills.iter();
    let is_wanted = |skill: &&CustomCommand| {
        wanted.as_ref().is_none_or(|names| names.iter().any(|name| skill.is_called(name)))
    };
    skills.filter(is_wanted).cloned().collect()
}

/// The names of those that a host shows: for people, and with a description.
pub(crate) fn skill_names(session: &Shared) -> Vec<String> {
    let skills = skills(session).into_iter();
    let shown = skills.filter(|skill| skill.is_for_people && skill.is_described);
    shown.map(|skill| skill.name).collect()
}

/// Finds a skill, or a command that people wrote, by any of its names.
pub(crate) fn find_custom(session: &Shared, name: &str) -> Option<CustomCommand> {
    let commands: Vec<_> = custom_commands(session).collect();
    // A name of its own comes before another's short one.
    let found = commands.iter().find(|command| command.name == name);
    found.or_else(|| commands.iter().find(|command| command.is_called(name))).cloned()
}

/// Skills and commands that the model may call up.
pub(crate) fn for_model(session: &Shared) -> Vec<CustomCommand> {
    custom_commands(session).filter(|command| command.is_for_model).collect()
}

/// The styles in which the model can be made to answer.
pub(crate) fn output_styles(session: &Shared) -> Vec<String> {
    let named = style::all(session).into_iter().map(|style| style.name);
    let named = named.filter(|name| name != style::DEFAULT);
    [style::DEFAULT.to_owned()].into_iter().chain(named).collect()
}

/// Looks again at what is on disk.
pub(crate) fn reload(session: &Shared) {
    session.library.forget();
}

/// Ends what a command allowed, however its expansion ends.
struct Withdrawal<'a>(&'a Shared);

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        withdraw_tools(self.0);
    }
}

async fn run_custom(
    agent: &mut Agent,
    command: &CustomCommand,
    invocation: &Invocation,
    message: &UserMessage,
    cancel: &CancellationToken,
) -> Outcome {
    if !command.is_for_people {
        local::announce(agent, message).await;
        let text = texts::only_for_model(&command.name);
        let report = local::Report::new(&command.name, invocation, text);
        return Outcome::Answered(Box::new(local::answer(agent, report).await));
    }
    let expanding = Expanding {
        kind: "slash_command",
        name: &command.name,
        source: command.source.as_str(),
        invocation,
    };
    let told = match expansion_hooks(&agent.session, &expanding, cancel).await {
        Ok(told) => told,
        Err(refusal) => {
            let result = prompt::refuse(agent, refusal, Vec::new()).await;
            return Outcome::Answered(Box::new(result));
        }
    };
    match expand::expand(agent, command, invocation, cancel).await {
        Ok(mut expansion) => {
            expansion.context = told;
            Outcome::Expanded(expansion)
        }
        Err(problem) => {
            local::announce(agent, message).await;
            let report = local::Report::new(&command.name, invocation, problem.to_string());
            Outcome::Answered(Box::new(local::answer(agent, report).await))
        }
    }
}

/// A command that is about to become a prompt.
struct Expanding<'a> {
    kind: &'static str,
    name: &'a str,
    source: &'a str,
    invocation: &'a Invocation,
}

/// Asks hooks whether a command may become a prompt; returns what they add.
async fn expansion_hooks(
    session: &Shared,
    expanding: &Expanding<'_>,
    cancel: &CancellationToken,
) -> Result<Vec<String>, prompt::Refusal> {
    let invocation = expanding.invocation;
    if !session.has_hooks(HookEvent::UserPromptExpansion) {
        return Ok(Vec::new());
    }
    let event = EventInput::UserPromptExpansion(UserPromptExpansionInput {
        expansion_type: expanding.kind.to_owned(),
        command_name: expanding.name.to_owned(),
        command_args: invocation.args.clone(),
        command_source: Some(expanding.source.to_owned()),
        prompt: invocation.typed(),
        extra: Extra::new(),
    });
    let report = session.run_hooks(&Identity::Main, event, cancel).await;
    if let Some(block) = report.blocks.first() {
        return Err(prompt::Refusal {
            text: texts::expansion_blocked(&block.reason, &invocation.typed()),
            kind: PromptSubmitOutcomeKind::BlockedByHook,
            reason: Some(block.reason.clone()),
            prompt_kept: false,
        });
    }
    if let Some(stop) = &report.stop {
        let reason = stop.reason.clone().unwrap_or_default();
        return Err(prompt::Refusal {
            text: hook_texts::stopped(&reason),
            kind: PromptSubmitOutcomeKind::StoppedByHook,
            reason: Some(reason),
            prompt_kept: true,
        });
    }
    Ok(report.model_texts().collect())
}

fn find(session: &Shared, name: &str) -> Option<Known> {
    let builtin = BUILTINS.iter().find(|builtin| builtin.is_called(name));
    if !session.config.slash_commands {
        return (builtin.is_some() || terminal::is_named(name)).then_some(Known::Unavailable);
    }
    if let Some(builtin) = builtin {
        return Some(Known::Builtin(builtin));
    }
    let custom = find_custom(session, name).map(Known::Custom);
    custom
        .or_else(|| mcp_prompt::find(session, name).map(Known::McpPrompt))
        .or_else(|| terminal::is_named(name).then_some(Known::Unavailable))
}

/// Skills, and commands that people wrote.
fn custom_commands(session: &Shared) -> impl Iterator<Item = CustomCommand> {
    let mut commands = skills(session);
    if session.config.slash_commands {
        for command in &session.library.get(session).commands {
            if !commands.iter().any(|known| known.name == command.name) {
                commands.push(command.clone());
            }
        }
    }
    commands.into_iter()
}

/// Those that people may call.
fn for_people(session: &Shared) -> impl Iterator<Item = CustomCommand> {
    custom_commands(session).filter(|command| command.is_for_people)
}

/// A command as hosts see it, by the name that its head says.
fn listed(command: CustomCommand) -> SlashCommand {
    let CustomCommand { name, mut aliases, told_name, description, argument_hint, .. } = command;
    let shown = told_name.unwrap_or_else(|| name.clone());
    aliases.insert(0, name);
    aliases.retain(|alias| *alias != shown);
    SlashCommand {
        name: shown,
        description,
        argument_hint,
        aliases: (!aliases.is_empty()).then_some(aliases),
        ..SlashCommand::default()
    }
}

impl Invocation {
    fn read(content: &Content) -> Option<Self> {
        let text = match content {
            Content::Text(text) => text.as_str(),
            // What was attached comes first; what comes last was typed.
            Content::Blocks(blocks) => blocks.last()?.as_text()?,
        };
        let typed = text.strip_prefix('/')?;
        let end = typed.find(char::is_whitespace).unwrap_or(typed.len());
        let (name, args) = typed.split_at(end);
        let is_name = !name.is_empty() && !name.contains('/');
        is_name.then(|| Self { name: name.to_owned(), args: args.trim().to_owned() })
    }

    /// As it was typed.
    fn typed(&self) -> String {
        match self.args.is_empty() {
            true => format!("/{}", self.name),
            false => format!("/{} {}", self.name, self.args),
        }
    }
}
