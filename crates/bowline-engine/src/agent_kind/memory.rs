//! Memory of a kind of agent: a folder, and the section of the system prompt about it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bowline_protocol::AgentMemory;

use super::AgentKind;
use crate::{instructions::memory::read_text, settings::SettingsPaths};

/// The file that is part of an agent's system prompt.
const INDEX: &str = "MEMORY.md";
/// The maximum number of bytes of it.
const INDEX_LIMIT: usize = 25 * 1024;

/// The memory folder of agents of this kind; creates it.
pub(crate) fn folder(places: &SettingsPaths, kind: &AgentKind) -> Option<PathBuf> {
    let (above, inside) = match kind.memory.as_ref()? {
        AgentMemory::User => (&places.config_dir, "agent-memory"),
        AgentMemory::Project => (&places.project, ".claude/agent-memory"),
        AgentMemory::Local => (&places.project, ".claude/agent-memory-local"),
        _ => return None,
    };
    let inside = Path::new(inside).join(file_name(&kind.name));
    let made = match kind.memory {
        Some(AgentMemory::User) => make(above, &inside, bowline_private::folder),
        // Other users may work in the project, so the umask decides about the rights.
        _ => make(above, &inside, |folder| fs::create_dir_all(folder)),
    };
    if made.is_none() {
        tracing::warn!(agent = kind.name, "there is no folder for what the agent remembers");
    }
    made
}

/// Creates a folder without following links: they may lead anywhere, and writes here need no permission.
///
/// Component by component, so that a link is found before anything is created below it.
fn make(above: &Path, inside: &Path, create: impl Fn(&Path) -> io::Result<()>) -> Option<PathBuf> {
    create(above).ok()?;
    let above = above.canonicalize().ok()?;
    let mut folder = above.clone();
    for part in inside {
        folder.push(part);
        match fs::symlink_metadata(&folder) {
            Ok(about) if about.is_dir() => {}
            Ok(_) => return None,
            Err(_) => create(&folder).ok()?,
        }
    }
    (folder.canonicalize().ok()? == folder).then_some(folder)
}

/// The name of a kind, as a safe name of one folder.
fn file_name(kind: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || letter == '_' { letter } else { '-' };
    kind.chars().map(plain).collect()
}

/// The section of the system prompt about the memory folder.
pub(crate) fn section(folder: &Path) -> String {
    // The folder may be part of a clone, and the file a link to anywhere.
    let file = folder.join(INDEX);
    let is_own = fs::symlink_metadata(&file).is_ok_and(|about| about.is_file());
    let index = read_text(&file).filter(|_| is_own).unwrap_or_default();
    let index = match index[..index.floor_char_boundary(INDEX_LIMIT)].trim() {
        "" => format!("{INDEX} is empty so far."),
        index => format!("{INDEX} says:\n\n{index}"),
    };
    format!(
        "# Your memory\nWhat you write into {} is still there when you are sent the next time. Keep \
         what will be worth knowing then: how this project works, what people want, which mistakes \
         not to make again. Leave out what the files of the project say. Keep {INDEX} short, and put \
         what needs more room into files beside it that it names.\n\n{index}",
        folder.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_else() {
        assert_eq!(file_name("plugin:code review"), "plugin-code-review");
        assert_eq!(file_name("../../etc"), "------etc");
    }

    #[test]
    fn memory_section_has_the_beginning_of_the_index() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join(INDEX);
        assert!(section(folder.path()).ends_with("MEMORY.md is empty so far."));
        // A letter of two bytes lies across the limit.
        fs::write(&index, format!("a{}", "ü".repeat(INDEX_LIMIT))).unwrap();
        assert!(section(folder.path()).ends_with("üü"));
        fs::remove_file(&index).unwrap();
        fs::create_dir(&index).unwrap();
        assert!(section(folder.path()).ends_with("MEMORY.md is empty so far."));
    }

    #[test]
    fn a_link_is_no_folder_to_remember_in() {
        let (project, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let above = project.path().canonicalize().unwrap();
        assert_eq!(
            make(&above, Path::new("a/b"), bowline_private::folder),
            Some(above.join("a/b"))
        );
        std::os::unix::fs::symlink(elsewhere.path(), above.join("link")).unwrap();
        assert_eq!(make(&above, Path::new("link/b"), bowline_private::folder), None);
    }
}
