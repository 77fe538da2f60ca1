//! Slash commands: built-in ones that the engine runs, and custom ones that expand to a prompt.
//!
//! | subject | where |
//! |---|---|
//! | built-in commands | [`builtin`], and a file for each that does more than show |
//! | the catalog of commands | [`library`](crate::library) |
//! | expansion to prompts | [`expand`] |
//! | prompts of MCP servers | [`mcp_prompt`] |
//! | messages to the host about a command | [`local`] |

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

/// The outcome of a prompt that may be a command.
pub(crate) enum Outcome {
    /// It is not a command: the model gets it as it is.
    NoCommand,
    /// The engine has run it; the turn ends with this result.
    Completed(Box<ResultMessage>),
    /// The model gets this expansion instead.
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
            Outcome::Completed(Box::new(result))
        }
        Some(FoundCommand::Custom(command)) => {
            run_custom(agent, &command, &invocation, message, cancel).await
        }
        Some(FoundCommand::McpPrompt(prompt)) => {
            mcp_prompt::run(agent, &prompt, &invocation, cancel).await
        }
        Some(FoundCommand::Unavailable) => {
            Outcome::Completed(Box::new(local::decline(agent, &invocation, message).await))
        }
    }
}

/// The expanded text of a command, without a conversation; `None` if the command does not exist.
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
    let added = match expansion_hooks(session, &expanding, cancel).await {
        Ok(added) => added,
        Err(refusal) => return Some(Err(refusal.text)),
    };
    let _withdrawal = Withdrawal(session);
    Some(match expand::spell_out(context, &command, &invocation, cancel).await {
        Ok(mut expanded) => {
            for context in added {
                expanded.text.push_str("\n\n");
                expanded.text.push_str(&context);
            }
            Ok(expanded)
        }
        Err(problem) => Err(problem.to_string()),
    })
}

/// Removes a command's permission rules when it is dropped, so also on errors and cancellation.
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
        return Outcome::Completed(Box::new(local::send_report(agent, report).await));
    }
    let expanding = Expanding {
        kind: "slash_command",
        name: &command.name,
        source: command.source.as_str(),
        invocation,
    };
    let added = match expansion_hooks(&agent.session, &expanding, cancel).await {
        Ok(added) => added,
        Err(refusal) => {
            let result = refuse(agent, refusal, Vec::new()).await;
            return Outcome::Completed(Box::new(result));
        }
    };
    match expand::expand(agent, command, invocation, cancel).await {
        Ok(mut expansion) => {
            expansion.context = added;
            Outcome::Expanded(expansion)
        }
        Err(problem) => {
            local::announce(agent, message).await;
            let report = local::Report::new(&command.name, invocation, problem.to_string());
            Outcome::Completed(Box::new(local::send_report(agent, report).await))
        }
    }
}

/// A command that is being expanded.
struct Expanding<'a> {
    kind: &'static str,
    name: &'a str,
    source: &'a str,
    invocation: &'a Invocation,
}

/// Runs the hooks that may refuse an expansion; returns the context that they add.
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
