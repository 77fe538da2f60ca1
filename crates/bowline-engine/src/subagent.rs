//! Agents that work for other agents.

use bowline_protocol::AgentInfo;

use crate::session::Shared;

/// The kinds of agents there are.
pub(crate) fn names(session: &Shared) -> Vec<String> {
    session.config.agents.keys().cloned().collect()
}

/// What a host is told about them.
pub(crate) fn infos(session: &Shared) -> Vec<AgentInfo> {
    let _ = session;
    Vec::new()
}
