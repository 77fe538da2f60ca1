//! Agents from files: `.claude/agents/*.md` of the project and of the user, with a head of fields.

use std::{fs, path::Path};

use super::AgentKind;
use crate::{context::frontmatter::Document, settings::Places};

/// The agents that files define; the project's come later and so win.
pub(crate) fn from_files(places: &Places) -> Vec<AgentKind> {
    let folders = [places.config_dir.join("agents"), places.project.join(".claude").join("agents")];
    folders.iter().flat_map(|folder| from_folder(folder)).collect()
}

fn from_folder(folder: &Path) -> Vec<AgentKind> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.iter().filter_map(|path| from_file(path)).collect()
}

fn from_file(path: &Path) -> Option<AgentKind> {
    let text = fs::read_to_string(path).ok()?;
    let document = Document::parse(&text);
    let stem = path.file_stem()?.to_string_lossy().into_owned();
    let model = document.text("model").filter(|model| *model != "inherit");
    Some(AgentKind {
        name: document.text("name").map_or(stem, str::to_owned),
        description: document.text("description").unwrap_or_default().to_owned(),
        prompt: document.body.trim().to_owned(),
        tools: document.list("tools"),
        disallowed_tools: document.list("disallowedTools").unwrap_or_default(),
        model: model.map(str::to_owned),
        max_turns: document.text("maxTurns").and_then(|turns| turns.parse().ok()),
        background: document.text("background").map(|background| background == "true"),
        permission_mode: document.text("permissionMode").map(Into::into),
    })
}
