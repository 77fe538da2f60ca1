//! Slash commands: prompts that the engine answers itself.

use bowline_protocol::{Content, ResultMessage, SlashCommand, UserMessage};
use tokio_util::sync::CancellationToken;

use crate::{agent::Agent, session::Shared};

/// Whether a prompt names a command.
pub(crate) fn is_command(content: &Content) -> bool {
    content.to_text().starts_with('/')
}

/// Runs a prompt as a command, if it is one.
pub(crate) async fn run(
    agent: &mut Agent,
    prompt: &UserMessage,
    cancel: &CancellationToken,
) -> Option<ResultMessage> {
    let _ = (agent, prompt, cancel);
    None
}

/// The commands there are.
pub(crate) fn list(session: &Shared) -> Vec<SlashCommand> {
    let _ = session;
    Vec::new()
}

/// The skills there are.
pub(crate) fn skill_names(session: &Shared) -> Vec<String> {
    let _ = session;
    Vec::new()
}

/// The styles in which the model can be made to answer.
pub(crate) fn output_styles(session: &Shared) -> Vec<String> {
    let _ = session;
    vec!["default".to_owned()]
}
