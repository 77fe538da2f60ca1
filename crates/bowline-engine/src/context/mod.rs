//! What the model is told before everything else.

use std::sync::Arc;

use crate::{config::SystemPrompt, session::Shared};

/// The system prompt of the main agent.
pub(crate) fn system_prompt(session: &Arc<Shared>) -> Vec<String> {
    match &session.config.system_prompt {
        SystemPrompt::Custom(parts) => parts.clone(),
        SystemPrompt::Default { append } => {
            let own = "You are Bowline, an agent that works on software with the tools it has.";
            [Some(own.to_owned()), append.clone()].into_iter().flatten().collect()
        }
    }
}
