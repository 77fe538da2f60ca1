//! Agents from files: `.claude/agents/*.md` of the project and of the user, with a head of fields.

use std::path::{Path, PathBuf};

use super::{AgentKind, AgentSource, ProjectInstructions, kind::read_hooks, servers};
use crate::{
    context::{frontmatter::Document, markdown, memory::read_text},
    plugin::Plugins,
    settings::{Places, Settings, Source, SourceSet},
};

/// The agents that files define, of those sources that count. The project's come later and so win,
/// the nearest ones last.
pub(crate) fn from_files(places: &Places, sources: SourceSet) -> Vec<AgentKind> {
    let user = sources.user.then(|| (Source::User, places.config_dir.join("agents")));
    let projects = places.project_folders().into_iter().rev().filter(|_| sources.project);
    let projects = projects.map(|folder| (Source::Project, folder.join(".claude/agents")));
    // A file without a name, or a word on what it is for, lies there for another reason.
    let is_agent = |document: &Document| {
        document.text("name").is_some() && document.text("description").is_some()
    };
    let folders = user.into_iter().chain(projects);
    let agents = folders.flat_map(|(source, folder)| {
        let source = AgentSource::Settings(source);
        from_place(&folder, is_agent).into_iter().map(move |kind| AgentKind { source, ..kind })
    });
    agents.collect()
}

/// The agents that settings define. Of two with one name that of the higher layer counts, as a whole.
pub(crate) fn from_settings(settings: &Settings) -> Vec<AgentKind> {
    let layers = settings.layers().iter();
    let agents = layers.flat_map(|layer| {
        let agents = layer.known.agents.iter();
        agents.map(|(name, definition)| AgentKind::given(layer.source, name, definition))
    });
    agents.collect()
}

/// The agents that plugins bring.
pub(crate) fn from_plugins(plugins: &Plugins) -> Vec<AgentKind> {
    let agents = plugins.loaded().iter().flat_map(|plugin| {
        let agents = plugin.agents.iter().flat_map(|place| from_place(place, |_| true));
        agents.map(|kind| AgentKind {
            name: plugin.qualify(&kind.name),
            prompt: plugin.expand(&kind.prompt),
            source: AgentSource::Plugin,
            // A plugin lists its servers where everybody sees them.
            servers: Vec::new(),
            ..kind
        })
    });
    agents.collect()
}

/// The agents of a folder, or the one of a file, as far as they are some.
fn from_place(folder: &Path, is_agent: impl Fn(&Document) -> bool) -> Vec<AgentKind> {
    let read = |path: PathBuf| {
        let document = Document::parse(&read_text(&path)?);
        if !is_agent(&document) {
            tracing::warn!(path = %path.display(), "an agent needs a name and a description");
            return None;
        }
        from_document(&path, &document)
    };
    markdown::files_in(folder).into_iter().filter_map(read).collect()
}

fn from_document(path: &Path, document: &Document) -> Option<AgentKind> {
    let stem = path.file_stem()?.to_string_lossy().into_owned();
    let model = document.text("model").filter(|model| *model != "inherit");
    Some(AgentKind {
        name: document.text("name").map_or(stem, str::to_owned),
        source: AgentSource::Settings(Source::Project),
        path: Some(path.to_owned()),
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
        skills: document.list("skills").unwrap_or_default(),
        memory: document.text("memory").map(Into::into),
        instructions: match document.text("omitClaudeMd") {
            Some("true") => ProjectInstructions::Omitted,
            _ => ProjectInstructions::Told,
        },
        hooks: document.tree("hooks").as_ref().map(read_hooks).unwrap_or_default(),
        servers: document.tree("mcpServers").map(servers::written).unwrap_or_default(),
    })
}
