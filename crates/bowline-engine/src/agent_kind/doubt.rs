//! Agents of a project that is not trusted: no more rights than their session gives them.

use bowline_protocol::PermissionMode;

use super::AgentKind;
use crate::settings::{Part, SkippedParts, is_harmless_model, skipped_hooks};

/// Removes the parts that would grant rights, start a program or write without a permission request.
pub(super) fn restrain(kind: &mut AgentKind, file: &str, left_out: &mut SkippedParts) {
    left_out.hooks.extend(skipped_hooks(&kind.hooks, file));
    kind.hooks.clear();
    let mut add = |what: &str| left_out.add(Part::Agent, format!("{what} of {}", kind.name));
    // A permission mode may be stricter than the session's, not more permissive.
    let stricter = |mode: &PermissionMode| {
        matches!(mode.clone().canonical(), PermissionMode::Plan | PermissionMode::DontAsk)
    };
    if kind.permission_mode.take_if(|mode| !stricter(mode)).is_some() {
        add("permissionMode");
    }
    // Writes into the memory of an agent need no permission.
    if kind.memory.take().is_some() {
        add("memory");
    }
    if kind.model.take_if(|name| !is_harmless_model(name)).is_some() {
        add("model");
    }
    if !kind.servers.is_empty() {
        add("mcpServers");
    }
    kind.blocked_servers =
        std::mem::take(&mut kind.servers).into_iter().map(|it| it.name).collect();
}

/// Adds the kinds of an untrusted project, except those whose names are taken: the caller of a name
/// expects the agent that it knows.
pub(super) fn add_unless_taken(
    kinds: &mut Vec<AgentKind>,
    project: Vec<AgentKind>,
    left_out: &mut SkippedParts,
) {
    let taken: Vec<_> = kinds.iter().map(|kind| key(&kind.name)).collect();
    for kind in project {
        if taken.contains(&key(&kind.name)) {
            left_out.add(Part::Agent, kind.name);
            continue;
        }
        match kinds.iter_mut().find(|known| known.name == kind.name) {
            // A nearer definition in the same project.
            Some(known) => *known = kind,
            None => kinds.push(kind),
        }
    }
}

/// A name, normalized so that lookalikes collide.
fn key(name: &str) -> String {
    name.trim().to_lowercase()
}
