//! `/reload-plugins` and `/reload-skills`: looking again at what is on disk.

use super::{reload, skill_names};
use crate::{session::Shared, subagent};

/// Reads the plugins again.
pub(super) async fn plugins(session: &Shared) -> String {
    session.reload_plugins(session.plugins().with([])).await;
    let plugins = session.plugins();
    let mut counts = vec![
        count(plugins.infos().len(), "plugin"),
        count(skill_names(session).len(), "skill"),
        count(subagent::names(session).len(), "agent"),
    ];
    if !plugins.problems.is_empty() {
        counts.push(count(plugins.problems.len(), "problem"));
    }
    format!("Reloaded: {}", counts.join(" · "))
}

/// Reads the skills again.
pub(super) fn skills(session: &Shared) -> String {
    let before = skill_names(session);
    reload(session);
    let now = skill_names(session);
    let added = now.iter().filter(|name| !before.contains(name)).count();
    let removed = before.iter().filter(|name| !now.contains(name)).count();
    format!("Reloaded: {} ({added} added, {removed} removed)", count(now.len(), "skill"))
}

fn count(number: usize, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}
