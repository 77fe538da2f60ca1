//! Files that decide what runs later: a change of one always needs approval.

use std::path::Path;

use super::location::Location;

/// Directories in which a change may make other programs run something.
const DIRECTORIES: &[&str] = &[".git", ".claude", ".bowline", ".vscode", ".idea", ".husky"];

/// Files that shells and programs obey.
const FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".gitconfig",
    ".gitmodules",
    ".ripgreprc",
    ".mcp.json",
    ".claude.json",
];

/// Why a file is sensitive, if it is.
pub(super) fn sensitivity(location: &Location) -> Option<String> {
    location.paths().into_iter().find_map(|path| {
        let below = below_worktree(path);
        let mut parts = below.components().rev().map(|it| it.as_os_str().to_string_lossy());
        let file = parts.next()?;
        if is_one_of(&file, FILES) {
            return Some(format!("{} is a sensitive file", path.display()));
        }
        let directory = std::iter::once(file).chain(parts).find(|it| is_one_of(it, DIRECTORIES))?;
        Some(format!("{} is inside {directory}, whose files are sensitive", path.display()))
    })
}

/// Some file systems do not tell upper from lower case.
fn is_one_of(part: &str, names: &[&str]) -> bool {
    names.iter().any(|name| part.eq_ignore_ascii_case(name))
}

/// What of a path is inside a worktree that was made for an agent (`.claude/worktrees/NAME`): that
/// is a project like the one around it. The whole path if it is in none.
fn below_worktree(path: &Path) -> &Path {
    let mut parts = path.components();
    let mut part = parts.find(|part| is_one_of(&part.as_os_str().to_string_lossy(), DIRECTORIES));
    for expected in [Some(".claude"), Some("worktrees"), None] {
        match (part, expected) {
            (Some(found), Some(name)) if found.as_os_str() == name => {}
            (Some(_), None) => {}
            _ => return path,
        }
        part = expected.and_then(|_| parts.next());
    }
    let inside = parts.as_path();
    if inside.as_os_str().is_empty() { path } else { below_worktree(inside) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_is_a_project_of_its_own() {
        for (path, sensitive) in [
            ("/p/.claude/settings.json", true),
            ("/p/.claude/worktrees/agent-1/src/a.rs", false),
            ("/p/.claude/worktrees/agent-1/.claude/settings.json", true),
            ("/p/.claude/worktrees/agent-1/.git/config", true),
            ("/p/.claude/worktrees/agent-1", true),
            ("/p/.git/.claude/worktrees/agent-1/x", true),
            ("/p/.claude/worktrees/a/.claude/worktrees/b/x", false),
            ("/p/worktrees/x/.claude/a", true),
        ] {
            let found = sensitivity(&Location::of(Path::new(path)));
            assert_eq!(found.is_some(), sensitive, "{path}");
        }
    }
}
