//! Toolset of a subagent: the tools of its parent that its kind allows.

use std::sync::Arc;

use super::{MAX_DEPTH, servers, tool};
use crate::{
    agent_kind::AgentKind,
    identity::Identity,
    session_context::SessionContext,
    toolset::{AGENT_TOOL, Toolset},
};

/// Tools that prompt the user, to whom a subagent has no access.
const FOR_PEOPLE: &[&str] =
    &["AskUserQuestion", "ExitPlanMode", "EnterPlanMode", "StructuredOutput"];

/// The tools of a subagent of this kind.
pub(crate) fn tools(
    session: &Arc<SessionContext>,
    parent: &Toolset,
    kind: &AgentKind,
    identity: &Identity,
) -> Arc<Toolset> {
    let servers = identity.subagent().and_then(|subagent| servers::of(session, kind, subagent));
    let filters = kind.filters();
    let depth = identity.subagent().map_or(0, |subagent| subagent.depth);
    let mut registry = parent.own().clone();
    registry.retain(|spec| {
        filters.iter().all(|filter| filter.admits_tool(spec))
            && !FOR_PEOPLE.contains(&&*spec.name)
            && (spec.name != AGENT_TOOL || depth < MAX_DEPTH)
    });
    let filters = parent.filters().iter().cloned().chain(filters).collect();
    Arc::new_cyclic(|all| {
        // The agent tool of a subagent starts agents below it, not siblings.
        if registry.get(AGENT_TOOL).is_some() {
            registry.insert(tool::agent_tool(session, identity.clone(), all));
        }
        Toolset::new(registry, parent.source().cloned(), parent.disabled().to_vec(), filters)
            .with_servers(servers)
    })
}
