//! `/reload-plugins` and `/reload-skills`: read plugins and skills from disk again.

use crate::{plugin_reload, session_context::SessionContext};

/// Reads the plugins again.
pub(super) async fn plugins(session: &SessionContext) -> String {
    plugin_reload::reload(session, session.plugins.get().with([])).await;
    let plugins = session.plugins.get();
    let mut counts = vec![
        count(plugins.infos().len(), "plugin"),
        count(session.commands.skill_names().len(), "skill"),
        count(session.kinds.names().len(), "agent"),
    ];
    if !plugins.problems.is_empty() {
        counts.push(count(plugins.problems.len(), "problem"));
    }
    format!("Reloaded: {}", counts.join(" · "))
}

/// Reads the skills again.
pub(super) fn skills(session: &SessionContext) -> String {
    let before = session.commands.skill_names();
    session.commands.reload();
    let now = session.commands.skill_names();
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
