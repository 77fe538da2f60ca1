//! Agents from files: `.claude/agents/*.md` of the project and of the user, with a head of fields.

use std::{fs, path::Path};

use super::{AgentKind, kind::read_hooks};
use crate::{
    context::frontmatter::Document,
    plugin::Plugins,
    settings::{Places, Settings, SourceSet},
};

/// The agents that files define, of those sources that count; the project's come later and so win.
pub(crate) fn from_files(places: &Places, sources: SourceSet) -> Vec<AgentKind> {
    let user = sources.user.then(|| places.config_dir.join("agents"));
    let project = sources.project.then(|| places.project.join(".claude/agents"));
    user.iter().chain(&project).flat_map(|folder| from_place(folder)).collect()
}

/// The agents that settings define. Of two with one name that of the higher layer counts, as a whole.
pub(crate) fn from_settings(settings: &Settings) -> Vec<AgentKind> {
    let layers = settings.layers().iter();
    layers.flat_map(|layer| layer.known.agents.iter().map(AgentKind::given)).collect()
}

/// The agents that plugins bring.
pub(crate) fn from_plugins(plugins: &Plugins) -> Vec<AgentKind> {
    let agents = plugins.loaded().iter().flat_map(|plugin| {
        let agents = plugin.agents.iter().flat_map(|place| from_place(place));
        agents.map(|kind| AgentKind {
            name: plugin.qualify(&kind.name),
            prompt: plugin.expand(&kind.prompt),
            ..kind
        })
    });
    agents.collect()
}

/// The agents of a folder, or the one of a file.
fn from_place(folder: &Path) -> Vec<AgentKind> {
    if folder.is_file() {
        return from_file(folder).into_iter().collect();
    }
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
        effort: document.text("effort").and_then(|level| level.parse().ok()),
        max_turns: document.text("maxTurns").and_then(|turns| turns.parse().ok()),
        background: document.text("background").map(|background| background == "true"),
        permission_mode: document.text("permissionMode").map(Into::into),
        isolated: document.text("isolation") == Some("worktree"),
        initial_prompt: document.text("initialPrompt").map(str::to_owned),
        hooks: document.tree("hooks").as_ref().map(read_hooks).unwrap_or_default(),
    })
}
