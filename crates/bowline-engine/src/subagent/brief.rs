//! What a subagent knows before it begins: where it works, what people have left for it, what it remembers.

use bowline_protocol::ContentBlock;
use tokio_util::sync::CancellationToken;

use super::{AgentKind, memory};
use crate::{agent::Agent, command};

/// Tells an agent what it should know; what goes behind its prompt is returned.
pub(super) async fn brief(
    agent: &mut Agent,
    kind: &AgentKind,
    cancel: &CancellationToken,
) -> Vec<ContentBlock> {
    let folder = agent.identity.subagent().and_then(|subagent| subagent.memory.clone());
    agent.instructions.system.extend(folder.as_deref().map(memory::section));
    agent.orient(kind.instructions, cancel).await;
    let mut skills = Vec::new();
    for name in &kind.skills {
        match command::find_custom(&agent.session, name) {
            Some(skill) => match command::body(&skill, "").await {
                Ok(text) => skills.push(ContentBlock::text(text)),
                Err(error) => tracing::warn!(%error, name, "an agent's skill cannot be read"),
            },
            None => tracing::warn!(name, "an agent's skill does not exist"),
        }
    }
    skills
}
