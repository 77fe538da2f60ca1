//! Briefing of a subagent: working directory, instructions, memory and skills.

use bowline_protocol::ContentBlock;
use tokio_util::sync::CancellationToken;

use crate::{
    agent::Agent,
    agent_kind::{AgentKind, memory_section},
    library,
};

/// Extends the system prompt of an agent; returns the blocks that follow its prompt.
pub(super) async fn brief(
    agent: &mut Agent,
    kind: &AgentKind,
    cancel: &CancellationToken,
) -> Vec<ContentBlock> {
    let folder = agent.identity.subagent().and_then(|subagent| subagent.memory.clone());
    agent.instructions.system.extend(folder.as_deref().map(memory_section));
    agent.orient(kind.instructions, cancel).await;
    let mut skills = Vec::new();
    for name in &kind.skills {
        match agent.session.commands.find_custom(name) {
            Some(skill) => match library::body(&skill, "").await {
                Ok(text) => skills.push(ContentBlock::text(text)),
                Err(error) => tracing::warn!(%error, name, "an agent's skill cannot be read"),
            },
            None => tracing::warn!(name, "an agent's skill does not exist"),
        }
    }
    skills
}
