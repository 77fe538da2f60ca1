//! Counts of subagents, by how they started and ended, as results show them.

use bowline_protocol::SubagentStats;
use bowline_tools::TaskStatus;

use super::StartedAgent;

/// The party that ended a subagent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum StoppedBy {
    /// The agent that started it.
    #[default]
    Parent,
    /// The user, or the host for them.
    User,
    /// An interrupt of everything.
    Interrupt,
}

/// Adds a subagent that starts.
pub(super) fn started(count: &mut SubagentStats, agent: &StartedAgent<'_>) {
    count.spawned += 1;
    match agent.asked_background {
        Some(true) => count.requested.background += 1,
        Some(false) => count.requested.foreground += 1,
        None => count.requested.unset += 1,
    }
    count.started_in_background += u64::from(agent.backgrounded);
    count.max_depth = count.max_depth.max(agent.depth.into());
    count.spawned_by_subagents += u64::from(agent.depth > 1);
    *count.by_type.entry(agent.kind.to_owned()).or_default() += 1;
}

/// Adds a subagent that ends.
pub(super) fn ended(count: &mut SubagentStats, status: TaskStatus, by: StoppedBy) {
    match (status, by) {
        (TaskStatus::Completed, _) => count.completed += 1,
        (TaskStatus::Killed, StoppedBy::Parent) => count.killed.parent += 1,
        (TaskStatus::Killed, StoppedBy::User | StoppedBy::Interrupt) => count.killed.user += 1,
        _ => count.failed += 1,
    }
}
