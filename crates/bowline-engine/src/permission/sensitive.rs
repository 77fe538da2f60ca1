//! Files that decide what runs later: changing one is always asked about.

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
        let mut parts = path.components().rev().map(|it| it.as_os_str().to_string_lossy());
        // Some file systems do not tell upper from lower case.
        let is_one_of =
            |part: &str, names: &[&str]| names.iter().any(|name| part.eq_ignore_ascii_case(name));
        let file = parts.next()?;
        if is_one_of(&file, FILES) {
            return Some(format!("{} is a sensitive file", path.display()));
        }
        let directory = std::iter::once(file).chain(parts).find(|it| is_one_of(it, DIRECTORIES))?;
        Some(format!("{} is inside {directory}, whose files are sensitive", path.display()))
    })
}
