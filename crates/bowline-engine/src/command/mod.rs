//! Slash commands: prompts that the engine answers itself, and prompts that stand for longer ones.
//!
//! | subject | where |
//! |---|---|
//! | the commands that come with the engine | [`builtin`], and a file for each that does more than show |
//! | which commands there are | [`library`](crate::library) |
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
mod local;
mod mcp;
mod mcp_prompt;
mod output_style;
mod refusal;
mod reload;
mod rename;
mod texts;

use std::sync::Arc;

use bowline_protocol::{
    EventInput, Extra, HookEvent, PromptSubmitOutcomeKind, ResultMessage, UserMessage,
    UserPromptExpansionInput,
};
use tokio_util::sync::CancellationToken;

pub use self::expand::{ExpandedCommand, NamedFile};
pub(crate) use self::{
    cost::cost_text,
    expand::{Expansion, withdraw_tools},
    refusal::{PromptRefusal, refuse},
};
use crate::{
    agent::Agent,
    hook::texts as hook_texts,
    identity::Identity,
    library::{CustomCommand, FoundCommand, Invocation},
    session_context::SessionContext,
    turn::pipeline::CallContext,
};

/// What became of a prompt.
pub(crate) enum Outcome {
    /// It is not a command: the model gets it as it is.
    NoCommand,
    /// It was answered here.
    Answered(Box<ResultMessage>),
    /// The model gets this in its place.
    Expanded(Expansion),
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
    match agent.session.commands.find(&invocation.name) {
        None => Outcome::NoCommand,
        Some(FoundCommand::Builtin(builtin)) => {
            let result = builtin::run(agent, builtin, &invocation, message, cancel).await;
            Outcome::Answered(Box::new(result))
        }
        Some(FoundCommand::Custom(command)) => {
            run_custom(agent, &command, &invocation, message, cancel).await
        }
        Some(FoundCommand::McpPrompt(prompt)) => {
            mcp_prompt::run(agent, &prompt, &invocation, cancel).await
        }
        Some(FoundCommand::Unavailable) => {
            Outcome::Answered(Box::new(local::decline(agent, &invocation, message).await))
        }
    }
}

/// The text that a command stands for, without a conversation; `None` if it does not exist.
pub(crate) async fn expand_alone(
    context: &Arc<CallContext>,
    name: &str,
    args: &str,
    cancel: &CancellationToken,
) -> Option<Result<ExpandedCommand, String>> {
    let session = &context.session;
    let command = session.commands.find_custom(name).filter(|command| command.is_for_people)?;
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

/// Ends what a command allowed, however its expansion ends.
struct Withdrawal<'a>(&'a SessionContext);

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
            let result = refuse(agent, refusal, Vec::new()).await;
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
    session: &SessionContext,
    expanding: &Expanding<'_>,
    cancel: &CancellationToken,
) -> Result<Vec<String>, PromptRefusal> {
    let invocation = expanding.invocation;
    if !session.hooks.has(HookEvent::UserPromptExpansion) {
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
    let report = session.hooks.run(&Identity::Main, event, cancel).await;
    if let Some(block) = report.blocks.first() {
        return Err(PromptRefusal {
            text: texts::expansion_blocked(&block.reason, &invocation.typed()),
            kind: PromptSubmitOutcomeKind::BlockedByHook,
            reason: Some(block.reason.clone()),
            prompt_kept: false,
        });
    }
    if let Some(stop) = &report.stop {
        let reason = stop.reason.clone().unwrap_or_default();
        return Err(PromptRefusal {
            text: hook_texts::stopped(&reason),
            kind: PromptSubmitOutcomeKind::StoppedByHook,
            reason: Some(reason),
            prompt_kept: true,
        });
    }
    Ok(report.model_texts().collect())
}
